#include "codegen/tune/TuningDatabase.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <sqlite3.h>
#include <thread>

using namespace llvm;
using namespace lintel;

/// "LNTL": what SQLite's header says of whose file it is.
static constexpr int applicationId = 0x4c4e544c;
static constexpr int busyMilliseconds = 30000;

/// Tries again while another process holds the file; SQLite's own waiting leaves some cases out. (No write-ahead log:
/// making and removing it is what many processes that come and go at once cannot do without errors.)
template <typename Attempt> static int patiently(Attempt attempt) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now() + std::chrono::milliseconds(busyMilliseconds);
  for (;;) {
    int code = attempt();
    if ((code & 0xff) != SQLITE_BUSY || Clock::now() >= last) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

static constexpr const char *schema = R"(
CREATE TABLE problem(id INTEGER PRIMARY KEY, spec_hash TEXT NOT NULL, name TEXT NOT NULL, dims TEXT NOT NULL,
  types TEXT NOT NULL, batch INTEGER NOT NULL, steps INTEGER NOT NULL, heads INTEGER NOT NULL, groups INTEGER NOT NULL,
  threads INTEGER NOT NULL, target TEXT NOT NULL, machine TEXT NOT NULL, compiler TEXT NOT NULL,
  UNIQUE(spec_hash, batch, steps, heads, groups, threads, target, machine, compiler));
CREATE TABLE trial(problem INTEGER NOT NULL REFERENCES problem(id), form TEXT NOT NULL, chunk INTEGER NOT NULL,
  schedule TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, error REAL, ratio REAL, seconds REAL,
  predicted REAL, at REAL, rounds INTEGER, strategy TEXT NOT NULL, UNIQUE(problem, form, chunk, schedule));
CREATE TABLE best(problem INTEGER PRIMARY KEY REFERENCES problem(id), form TEXT NOT NULL, chunk INTEGER NOT NULL,
  schedule TEXT NOT NULL, ratio REAL NOT NULL, seconds REAL NOT NULL, standard_seconds REAL NOT NULL,
  rounds INTEGER NOT NULL);
)";

/// A prepared statement; its first failure stays.
class TuningDatabase::Statement {
public:
  Statement(TuningDatabase &database, const char *sql) : database(database) {
    code = patiently([&] { return sqlite3_prepare_v2(database.db, sql, -1, &statement, nullptr); });
  }
  ~Statement() { sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;

  Statement &operator<<(const std::string &text) {
    return bound(sqlite3_bind_text(statement, ++at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  Statement &operator<<(int64_t value) { return bound(sqlite3_bind_int64(statement, ++at, value)); }
  Statement &operator<<(double value) { return bound(sqlite3_bind_double(statement, ++at, value)); }

  /// Whether there is a row.
  Expected<bool> step(const char *doing) {
    if (code == SQLITE_OK)
      code = patiently([&] {
        sqlite3_reset(statement); // after a failure; bindings stay
        return sqlite3_step(statement);
      });
    else if (code == SQLITE_ROW) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return database.failure(doing, code);
  }
  std::string text(int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? std::string(reinterpret_cast<const char *>(text), sqlite3_column_bytes(statement, column)) : "";
  }
  int64_t integer(int column) { return sqlite3_column_int64(statement, column); }
  double real(int column) { return sqlite3_column_double(statement, column); }

private:
  Statement &bound(int result) {
    if (code == SQLITE_OK) code = result;
    return *this;
  }
  TuningDatabase &database;
  sqlite3_stmt *statement = nullptr;
  int at = 0, code = SQLITE_OK;
};

Error TuningDatabase::failure(const char *doing, int code) const {
  const char *wayOut = "";
  switch (code & 0xff) {
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
  case SQLITE_FORMAT:
    return createStringError(
        "'%s': expected a tuning database, found a file that is none or is damaged (%s); it is left "
        "as it is: move it away, or name another one by --database FILE",
        path.c_str(), sqlite3_errmsg(db));
  case SQLITE_FULL:
    wayOut = "; make room on that disk, what was recorded before is kept";
    break;
  case SQLITE_READONLY:
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
    wayOut = "; its folder must exist and be writable, too, or name another one by --database FILE";
    break;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    wayOut = "; another process has held it for half a minute: end that one, or name another one by --database FILE";
    break;
  default:
    break;
  }
  return createStringError("'%s': expected to %s the tuning database, found: %s%s", path.c_str(), doing,
                           sqlite3_errmsg(db), wayOut);
}

Error TuningDatabase::execute(const char *doing, const char *sql) {
  int code = patiently([&] { return sqlite3_exec(db, sql, nullptr, nullptr, nullptr); });
  return code == SQLITE_OK ? Error::success() : failure(doing, code);
}

Expected<std::unique_ptr<TuningDatabase>> TuningDatabase::open(const std::string &path, Access access) {
  bool reads = access == Access::Read;
  if (reads && !sys::fs::exists(path))
    return createStringError("'%s': expected a tuning database, found no file; lintel tune makes one", path.c_str());
  sqlite3 *db = nullptr;
  int flags = reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  std::unique_ptr<TuningDatabase> result(new TuningDatabase(path, db));
  if (code != SQLITE_OK) return result->failure("open", code);
  sqlite3_busy_timeout(db, busyMilliseconds);
  if (Error e = result->check(access)) return std::move(e);
  return std::move(result);
}

TuningDatabase::~TuningDatabase() { sqlite3_close(db); }

/// What the file is, before anything is written.
Error TuningDatabase::check(Access access) {
  int64_t application = 0, version = 0, tables = 0;
  auto look = [&]() -> Error {
    for (auto [sql, value] :
         {std::make_pair("PRAGMA application_id", &application), std::make_pair("PRAGMA user_version", &version),
          std::make_pair("SELECT count(*) FROM sqlite_master", &tables)}) {
      Statement statement(*this, sql);
      auto row = statement.step("read");
      if (!row) return row.takeError();
      *value = statement.integer(0);
    }
    return Error::success();
  };
  {
    // Of one moment: another tuner may be setting the file up.
    if (Error e = execute("read", "BEGIN")) return e;
    scope_exit end([&] { sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr); });
    if (Error e = look()) return e;
  }
  if (application == 0 && version == 0 && tables == 0) {
    if (access == Access::Read)
      return createStringError("'%s': expected a tuning database, found an empty one; lintel tune fills it",
                               path.c_str());
    // Another tuner may have been quicker.
    if (Error e = execute("set up", "BEGIN IMMEDIATE")) return e;
    scope_exit undo([&] { sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr); });
    if (Error e = look()) return e;
    if (tables == 0) {
      if (Error e = execute("set up", schema)) return e;
      std::string marks = "PRAGMA application_id=" + std::to_string(applicationId) +
                          "; PRAGMA user_version=" + std::to_string(schemaVersion);
      if (Error e = execute("set up", marks.c_str())) return e;
      application = applicationId, version = schemaVersion;
    }
    if (Error e = execute("set up", "COMMIT")) return e;
    undo.release();
  }
  if (application != applicationId)
    return createStringError("'%s': expected a tuning database, found a SQLite database of another program; it is left "
                             "as it is: name another one by --database FILE",
                             path.c_str());
  if (version != schemaVersion)
    return createStringError("'%s': expected a tuning database of version %d, found version %lld; it is left as it is: "
                             "use the lintel that wrote it, or name another one by --database FILE",
                             path.c_str(), schemaVersion, static_cast<long long>(version));
  Statement whole(*this, "PRAGMA quick_check(1)");
  auto row = whole.step("check");
  if (!row) return row.takeError();
  if (std::string found = whole.text(0); found != "ok")
    return createStringError("'%s': expected a whole tuning database, found damage (%s); it is left as it is: move it "
                             "away, or name another one by --database FILE",
                             path.c_str(), found.c_str());
  return access == Access::Write ? execute("set up", "PRAGMA synchronous=NORMAL") : Error::success();
}

static constexpr const char *findProblem =
    "SELECT id FROM problem WHERE spec_hash=? AND batch=? AND steps=? AND heads=? AND groups=? AND threads=? AND "
    "target=? AND machine=? AND compiler=?";

Expected<int64_t> TuningDatabase::problem(const TuningKey &key, bool make) {
  if (make) {
    Statement insert(*this, "INSERT OR IGNORE INTO problem(spec_hash, name, dims, types, batch, steps, heads, groups, "
                            "threads, target, machine, compiler) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    insert << key.specHash << key.name << key.dims << key.types << key.batch << key.steps << key.heads << key.groups
           << key.threads << key.target << key.machine << key.compiler;
    if (auto done = insert.step("write to"); !done) return done.takeError();
  }
  Statement find(*this, findProblem);
  find << key.specHash << key.batch << key.steps << key.heads << key.groups << key.threads << key.target << key.machine
       << key.compiler;
  auto row = find.step("read");
  if (!row) return row.takeError();
  return *row ? find.integer(0) : -1;
}

Error TuningDatabase::add(const TuningKey &key, const StoredTrial &trial) {
  auto id = problem(key, true);
  if (!id) return id.takeError();
  Statement insert(*this, "INSERT OR REPLACE INTO trial(problem, form, chunk, schedule, outcome, reason, error, ratio, "
                          "seconds, predicted, at, rounds, strategy) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert << *id << trial.form << trial.chunk << trial.schedule << trial.outcome << trial.reason << trial.error
         << trial.ratio << trial.seconds << trial.predicted << trial.at << trial.rounds << trial.strategy;
  return insert.step("write to").takeError();
}

Expected<std::vector<StoredTrial>> TuningDatabase::trials(const TuningKey &key) {
  std::vector<StoredTrial> result;
  auto id = problem(key, false);
  if (!id) return id.takeError();
  Statement select(*this,
                   "SELECT form, chunk, schedule, outcome, reason, error, ratio, seconds, predicted, at, rounds, "
                   "strategy FROM trial WHERE problem=? ORDER BY rowid");
  select << *id;
  for (;;) {
    auto row = select.step("read");
    if (!row) return row.takeError();
    if (!*row) return std::move(result);
    StoredTrial t;
    t.form = select.text(0), t.chunk = select.integer(1), t.schedule = select.text(2), t.outcome = select.text(3);
    t.reason = select.text(4), t.error = select.real(5), t.ratio = select.real(6), t.seconds = select.real(7);
    t.predicted = select.real(8), t.at = select.real(9), t.rounds = select.integer(10), t.strategy = select.text(11);
    result.push_back(std::move(t));
  }
}

Error TuningDatabase::setBest(const TuningKey &key, const StoredBest &best, const StoredBest *instead) {
  auto id = problem(key, true);
  if (!id) return id.takeError();
  Statement insert(*this, "INSERT INTO best(problem, form, chunk, schedule, ratio, seconds, standard_seconds, rounds) "
                          "VALUES(?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT(problem) DO UPDATE SET form=?2, chunk=?3, "
                          "schedule=?4, ratio=?5, seconds=?6, standard_seconds=?7, rounds=?8 "
                          "WHERE ?5 < ratio OR (form=?2 AND chunk=?3 AND schedule=?4) OR "
                          "(form=?9 AND chunk=?10 AND schedule=?11)");
  insert << *id << best.form << best.chunk << best.schedule << best.ratio << best.seconds << best.standardSeconds
         << best.rounds;
  if (instead) insert << instead->form << instead->chunk << instead->schedule;
  return insert.step("write to").takeError();
}

Expected<std::optional<StoredBest>> TuningDatabase::best(const TuningKey &key) {
  auto id = problem(key, false);
  if (!id) return id.takeError();
  Statement select(*this, "SELECT form, chunk, schedule, ratio, seconds, standard_seconds, rounds FROM best WHERE "
                          "problem=?");
  select << *id;
  auto row = select.step("read");
  if (!row) return row.takeError();
  if (!*row) return std::nullopt;
  StoredBest b;
  b.form = select.text(0), b.chunk = select.integer(1), b.schedule = select.text(2), b.ratio = select.real(3);
  b.seconds = select.real(4), b.standardSeconds = select.real(5), b.rounds = select.integer(6);
  return b;
}

Expected<std::vector<TuningKey>> TuningDatabase::shapes(const TuningKey &key) {
  std::vector<TuningKey> result;
  Statement select(*this, "SELECT batch, steps, heads, groups, threads FROM problem JOIN best ON best.problem=id WHERE "
                          "spec_hash=? AND target=? AND machine=? AND compiler=? "
                          "ORDER BY batch*steps*heads DESC, threads, id");
  select << key.specHash << key.target << key.machine << key.compiler;
  for (;;) {
    auto row = select.step("read");
    if (!row) return row.takeError();
    if (!*row) return std::move(result);
    TuningKey one = key;
    one.batch = select.integer(0), one.steps = select.integer(1), one.heads = select.integer(2);
    one.groups = select.integer(3), one.threads = select.integer(4);
    result.push_back(std::move(one));
  }
}

Expected<bool> TuningDatabase::hasOfOthers(const TuningKey &key) {
  Statement select(*this, "SELECT id FROM problem JOIN best ON best.problem=id WHERE spec_hash=? AND target=? AND "
                          "machine=? AND compiler<>? AND ratio<1 LIMIT 1");
  select << key.specHash << key.target << key.machine << key.compiler;
  return select.step("read");
}

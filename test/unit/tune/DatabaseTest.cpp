#include "codegen/tune/TuningDatabase.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace lintel;
using Access = TuningDatabase::Access;

namespace {

class DatabaseTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("lintel-tune", folder));
    path = (folder + "/tuned.db").str();
    key.specHash = "abc", key.name = "retnet", key.dims = "dk=64", key.types = "f32", key.steps = 1024, key.heads = 8;
    key.target = "native znver3 +avx2", key.machine = "a machine", key.compiler = "lintel 0";
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::unique_ptr<TuningDatabase> open(Access access = Access::Write) {
    return llvm::cantFail(TuningDatabase::open(path, access));
  }
  std::string whyNot(Access access) {
    auto result = TuningDatabase::open(path, access);
    return result ? "it opened" : llvm::toString(result.takeError());
  }
  std::string bytes() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  void sql(const char *text) {
    sqlite3 *db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  static StoredTrial trial(int64_t chunk, const std::string &schedule) {
    StoredTrial t;
    t.form = "chunkwise", t.chunk = chunk, t.schedule = schedule, t.outcome = "ok", t.ratio = 0.75, t.seconds = 1e-3;
    t.error = 1e-7, t.predicted = 12, t.at = 3, t.rounds = 9, t.strategy = "beam";
    return t;
  }
  static StoredBest best(const char *schedule, double ratio) {
    StoredBest b;
    b.form = "chunkwise", b.chunk = 8, b.schedule = schedule, b.ratio = ratio, b.seconds = 1, b.standardSeconds = 2;
    b.rounds = 24;
    return b;
  }

  llvm::SmallString<128> folder;
  std::string path;
  TuningKey key;
};

TEST_F(DatabaseTest, KeepsTrialsAndTheBest) {
  {
    auto db = open();
    llvm::cantFail(db->add(key, trial(8, "r: vector 8\n")));
    StoredTrial refused = trial(16, "");
    refused.outcome = "not compiled", refused.reason = "it's \"too\" large; ''";
    llvm::cantFail(db->add(key, refused));
    llvm::cantFail(db->add(key, trial(8, "r: vector 8\n"))); // again: the same row
    llvm::cantFail(db->setBest(key, best("r: vector 8\n", 0.75)));
  }
  for (Access access : {Access::Read, Access::Write}) {
    auto db = open(access);
    auto trials = llvm::cantFail(db->trials(key));
    ASSERT_EQ(trials.size(), 2u);
    StoredTrial refused = trials[0].chunk == 16 ? trials[0] : trials[1],
                ok = trials[0].chunk == 8 ? trials[0] : trials[1];
    EXPECT_EQ(refused.reason, "it's \"too\" large; ''");
    EXPECT_EQ(refused.outcome, "not compiled");
    EXPECT_EQ(ok.schedule, "r: vector 8\n");
    EXPECT_EQ(ok.ratio, 0.75);
    EXPECT_EQ(ok.seconds, 1e-3);
    EXPECT_EQ(ok.rounds, 9);
    EXPECT_EQ(ok.strategy, "beam");
    auto found = llvm::cantFail(db->best(key));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->form, "chunkwise");
    EXPECT_EQ(found->chunk, 8);
    EXPECT_EQ(found->ratio, 0.75);
    EXPECT_EQ(found->standardSeconds, 2);
  }
}

TEST_F(DatabaseTest, EveryPartOfTheKeyCounts) {
  auto db = open();
  llvm::cantFail(db->add(key, trial(8, "")));
  llvm::cantFail(db->setBest(key, best("", 0.5)));
  auto differs = [&](auto change) {
    TuningKey other = key;
    change(other);
    return llvm::cantFail(db->trials(other)).empty() && !llvm::cantFail(db->best(other));
  };
  EXPECT_FALSE(differs([](TuningKey &) {}));
  EXPECT_FALSE(differs([](TuningKey &k) { k.name = "for people"; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.specHash = "abd"; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.batch = 2; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.steps = 1025; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.heads = 4; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.groups = 4; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.threads = 2; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.target = "native znver4 +avx2"; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.machine = "another"; }));
  EXPECT_TRUE(differs([](TuningKey &k) { k.compiler = "lintel 1"; }));
  EXPECT_FALSE(llvm::cantFail(db->hasOfOthers(key)));
  TuningKey other = key;
  other.compiler = "lintel 1", other.steps = 7;
  EXPECT_TRUE(llvm::cantFail(db->hasOfOthers(other)));
  other.machine = "another";
  EXPECT_FALSE(llvm::cantFail(db->hasOfOthers(other)));
}

TEST_F(DatabaseTest, ABetterOneStays) {
  auto db = open();
  auto now = [&] {
    return llvm::cantFail(db->best(key))->schedule + std::to_string(llvm::cantFail(db->best(key))->ratio);
  };
  llvm::cantFail(db->setBest(key, best("a", 0.8)));
  llvm::cantFail(db->setBest(key, best("b", 0.9))); // another tuner's, slower
  EXPECT_EQ(now(), "a0.800000");
  llvm::cantFail(db->setBest(key, best("b", 0.7)));
  EXPECT_EQ(now(), "b0.700000");
  llvm::cantFail(db->setBest(key, best("b", 0.85))); // measured again: the first time was luck
  EXPECT_EQ(now(), "b0.850000");
  StoredBest beaten = best("b", 0), other = best("a", 0);
  llvm::cantFail(db->setBest(key, best("c", 0.95), &other)); // it beat one that is not the best any more
  EXPECT_EQ(now(), "b0.850000");
  llvm::cantFail(db->setBest(key, best("c", 0.95), &beaten));
  EXPECT_EQ(now(), "c0.950000");
}

TEST_F(DatabaseTest, ShapesOfAKernelMostWorkFirst) {
  auto db = open();
  for (int64_t steps : {64, 4096, 1024}) {
    key.steps = steps;
    llvm::cantFail(db->setBest(key, best("", 0.5)));
  }
  key.steps = 1 << 20;
  llvm::cantFail(db->add(key, trial(8, ""))); // no best one
  auto shapes = llvm::cantFail(db->shapes(key));
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes[0].steps, 4096);
  EXPECT_EQ(shapes[2].steps, 64);
  key.specHash = "other";
  EXPECT_TRUE(llvm::cantFail(db->shapes(key)).empty());
}

TEST_F(DatabaseTest, ManyMakeItAtOnce) {
  constexpr int rounds = 20, tuners = 6;
  for (int round = 0; round < rounds; ++round) {
    std::remove(path.c_str());
    std::vector<pid_t> children;
    for (int t = 0; t < tuners; ++t) {
      pid_t child = fork();
      if (child == 0) {
        auto db = TuningDatabase::open(path, Access::Write);
        if (!db) llvm::errs() << llvm::toString(db.takeError()) << "\n";
        _exit(db ? 0 : 1);
      }
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
  }
}

TEST_F(DatabaseTest, ManyTunersAtOnce) {
  constexpr int tuners = 4, each = 25;
  std::vector<pid_t> children;
  for (int t = 0; t < tuners; ++t) {
    pid_t child = fork(); // processes, as tuners are; each makes the file if it is first
    if (child == 0) {
      bool ok = true;
      auto db = TuningDatabase::open(path, Access::Write);
      if (!db) {
        llvm::errs() << llvm::toString(db.takeError()) << "\n";
        _exit(1);
      }
      for (int i = 0; i < each; ++i) {
        ok &= !(*db)->add(key, trial(t, std::to_string(i)));
        ok &= !(*db)->setBest(key, best("x", 1.0 / (1 + t * each + i)));
      }
      _exit(ok ? 0 : 2);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(llvm::cantFail(open()->trials(key)).size(), static_cast<size_t>(tuners * each));
}

TEST_F(DatabaseTest, OneThatIsNotThere) {
  EXPECT_EQ(whyNot(Access::Read), "'" + path + "': expected a tuning database, found no file; lintel tune makes one");
  EXPECT_FALSE(llvm::sys::fs::exists(path));
  path = (folder + "/no/such/tuned.db").str();
  EXPECT_NE(whyNot(Access::Write).find("unable to open database file; its folder must exist and be writable"),
            std::string::npos);
}

TEST_F(DatabaseTest, ForeignAndDamagedFilesAreLeftAsTheyAre) {
  std::ofstream(path) << "a text, and no database at all; long enough to be looked at as one, with a header of its own";
  std::string before = bytes();
  for (Access access : {Access::Read, Access::Write}) {
    std::string why = whyNot(access);
    EXPECT_NE(why.find("'" + path + "': expected a tuning database, found a file that is none or is damaged"),
              std::string::npos)
        << why;
    EXPECT_NE(why.find("move it away, or name another one by --database FILE"), std::string::npos) << why;
    EXPECT_EQ(bytes(), before);
  }
  std::remove(path.c_str());
  sql("CREATE TABLE music(title TEXT)");
  before = bytes();
  for (Access access : {Access::Read, Access::Write}) {
    EXPECT_NE(whyNot(access).find("found a SQLite database of another program"), std::string::npos);
    EXPECT_EQ(bytes(), before);
  }
}

TEST_F(DatabaseTest, NewerOnesAreLeftAsTheyAre) {
  llvm::cantFail(open()->add(key, trial(8, "")));
  sql("PRAGMA user_version=7; PRAGMA wal_checkpoint(TRUNCATE)");
  std::string before = bytes();
  for (Access access : {Access::Read, Access::Write}) {
    std::string why = whyNot(access);
    EXPECT_NE(why.find("expected a tuning database of version 1, found version 7"), std::string::npos) << why;
    EXPECT_EQ(bytes(), before);
  }
}

TEST_F(DatabaseTest, DamagedPagesAreReported) {
  {
    auto db = open();
    for (int i = 0; i < 300; ++i) llvm::cantFail(db->add(key, trial(i, std::string(200, 'x') + std::to_string(i))));
  }
  sql("PRAGMA wal_checkpoint(TRUNCATE)");
  std::string whole = bytes();
  ASSERT_GT(whole.size(), 40000u);
  std::string holed = whole;
  for (size_t i = 8192; i < holed.size() - 4096; ++i) holed[i] = static_cast<char>(i * 37);
  for (const std::string &bad : {holed, whole.substr(0, whole.size() / 2)}) {
    std::ofstream(path, std::ios::binary) << bad;
    std::string why = whyNot(Access::Write);
    EXPECT_NE(why.find("damage"), std::string::npos) << why;
    EXPECT_NE(why.find("it is left as it is"), std::string::npos) << why;
    EXPECT_EQ(bytes(), bad);
  }
}

TEST_F(DatabaseTest, FullDisk) {
  auto db = open();
  llvm::cantFail(db->add(key, trial(8, "kept")));
  // A limit on files' sizes stands for the end of the disk.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  llvm::scope_exit restore([&] { setrlimit(RLIMIT_FSIZE, &before); });
  rlimit small{40000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string why;
  for (int i = 0; i < 100 && why.empty(); ++i)
    if (llvm::Error e = db->add(key, trial(i, std::string(20000, 'x')))) why = llvm::toString(std::move(e));
  EXPECT_NE(why.find("'" + path + "': expected to write to the tuning database, found: "), std::string::npos) << why;
  setrlimit(RLIMIT_FSIZE, &before);
  db.reset();
  bool kept = false;
  for (const StoredTrial &t : llvm::cantFail(open()->trials(key))) kept |= t.schedule == "kept";
  EXPECT_TRUE(kept);
}

} // namespace

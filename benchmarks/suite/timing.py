"""Times in rounds: in one round each rival has its turn, so that what slows the machine slows all of them.

A turn is one call that is not timed (it brings the rival's arrays back to the caches) and then calls until `seconds`
have passed; short calls are timed some thousands at a time. From the turns of a rival: the best call of all, and the
median over the turns of the best call of each.
"""

import time

SHORT = 1e-3  # calls are put together until a measurement takes this long


def calibrate(run, limit=1 << 20):
    """How many calls make one measurement."""
    count = 1
    while True:
        start = time.perf_counter()
        run(count)
        taken = time.perf_counter() - start
        if taken >= SHORT or count >= limit:
            return count
        count = min(limit, count * max(2, int(1.2 * SHORT / max(taken, 1e-9)) if count > 8 else 2))


def turn(run, count, seconds):
    """Seconds a call of each measurement of one turn."""
    run(1)
    times = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run(count)
        times.append((time.perf_counter() - start) / count)
    return times


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else 0.5 * (values[middle - 1] + values[middle])


def summary(turns):
    """`turns`: a list of lists of seconds."""
    bests = [min(times) for times in turns]
    return {"best": min(bests), "median": median(bests), "rounds": len(turns), "calls": sum(len(times) for times in turns)}

# Read by ctest: programs under test run side by side, and port 3334 is one. Tests of the feed say where they want it.
set(ENV{PROBEPROF_HTTP} off)

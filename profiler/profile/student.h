/* Student's t distribution, for comparing means. */
#ifndef PROFILER_PROFILE_STUDENT_H
#define PROFILER_PROFILE_STUDENT_H

/* student_tail - how likely a value of t at least this far from 0, to either side, is by chance
 * df     degrees of freedom, above 0; need not be whole
 * Returns 0 to 1. By the incomplete beta function, Abramowitz and Stegun 26.7.1 and 26.5.8. */
double student_tail(double t, double df);

/* student_limit - the t that chance exceeds, to either side, in 5 % of the cases. */
double student_limit(double df);

#endif

// SPDX-License-Identifier: Apache-2.0
/* Calls of the system that fail on demand: memory, files, threads. faults.c stands in for the C library's functions,
   either in a test program that is linked with it or in any program that LD_PRELOAD gives it to.

   A fault is KIND:N:MODE. KIND is one of the names in kinds.h, or "file" for any of those that change
   files; N counts its calls from 0; MODE is
     once   the call fails
     on     that call and all after it fail
     short  reads and writes from there on pass at most half of what was asked for
     cut    power is lost: a write gets half way, what was written and not synced is lost, the process ends with kPowerCut

   A program under LD_PRELOAD reads the fault from QRT_FAULT and counts from main()'s beginning to its end. QRT_FAULT_LOG names
   a file for the calls that touch files, one a line, and at the end the number of calls of each kind. */
#ifndef QRT_TESTS_FAULTS_FAULTS_H_
#define QRT_TESTS_FAULTS_FAULTS_H_

#ifdef __cplusplus
extern "C" {
#endif

enum { kPowerCut = 86 };

/* Begins to count. `fault` may be NULL. */
void faults_start(const char* fault);
void faults_stop(void);

/* Between the two, or since. */
long faults_count(const char* kind);

/* Blocks of memory in use, whether counting or not. */
long faults_live_blocks(void);

#ifdef __cplusplus
}
#endif

#endif /* QRT_TESTS_FAULTS_FAULTS_H_ */

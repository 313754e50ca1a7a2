/* Preloaded, this takes the place of what MKL asks whether the processor is Intel's: on others it would choose slower
 * kernels. */
int mkl_serv_intel_cpu_true(void);
int mkl_serv_intel_cpu_true(void) { return 1; }

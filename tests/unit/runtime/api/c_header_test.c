/* The header is C99 and the library links from C. */
#include "runtime/api/sluice_rt.h"

int sluiceHeaderVersionFromC(void);
int sluiceHeaderVersionFromC(void) {
  const sluice_rt_machine machine = {.size = sizeof machine}; /* as the header says */
  return sluice_rt_api_version() == SLUICE_RT_API_VERSION && !machine.target &&
         sluice_rt_type_size(SLUICE_RT_FLOAT64) == 8;
}

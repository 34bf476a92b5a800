// The error of the calling thread's last failed call, and how exceptions and
// file problems become one.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "runtime/api/sluice_rt.h"

namespace sluice::runtime {

/// Remembers the message for sluice_rt_last_error and returns `status`.
sluice_rt_status fail(sluice_rt_status status, std::string code, std::string message);

/// fail() with what is wrong with an argument.
sluice_rt_status invalid(std::string message);

/// fail() with an index that is not below `count`: "node is 7, allowed: 0 to 4".
sluice_rt_status noSuch(std::string_view what, size_t index, size_t count);

/// Runs the body of an API function; no exception leaves it.
template <typename Body> sluice_rt_status guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(SLUICE_RT_OUT_OF_MEMORY, "E0610", "out of memory");
  } catch (const std::system_error &error) { // a thread that cannot be started
    if (error.code() == std::errc::resource_unavailable_try_again)
      return fail(SLUICE_RT_OUT_OF_MEMORY, "E0610", "out of memory");
    return fail(SLUICE_RT_INTERNAL, "E0611", error.what());
  } catch (const std::exception &error) {
    return fail(SLUICE_RT_INTERNAL, "E0611", error.what());
  }
}

} // namespace sluice::runtime

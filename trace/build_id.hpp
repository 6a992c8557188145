// The build id of a module, by which the host knows its file again.
#pragma once

#include <link.h>

#include "text.hpp"

namespace heddle::trace {

/// Writes the GNU build id in hexadecimal, or `-`. Only notes within a segment that is loaded to be
/// read are looked at, whatever else the module's file says.
void put_build_id(Text& line, const dl_phdr_info& info);

}  // namespace heddle::trace

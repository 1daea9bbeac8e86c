// cub_version.h: which CUB a measurement was made with, and when: for the CSVs.
#ifndef CUB_VERSION_H
#define CUB_VERSION_H

#include <cstdio>
#include <ctime>
#include <cub/version.cuh>
#include <string>

// The version of the CUB that this program was compiled with, such as "3.5.0": also that of Thrust and CCCL.
inline std::string cub_version()
{
    return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION);
}

// Today's date (UTC), such as "2026-11-28".
inline std::string today()
{
    char text[16];
    const time_t now = time(nullptr);
    strftime(text, sizeof text, "%Y-%m-%d", gmtime(&now));
    return text;
}

#endif

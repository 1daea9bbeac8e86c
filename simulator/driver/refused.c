// refused.c: unsupported driver functions. They are defined so that programs that do not depend on them can link, or find them in
// libcuda.so.1.
#include "driver/driver.h"

#define UNSUPPORTED(name)                                                                                  \
    API CUresult unsupported_##name(void) __asm__(#name);                                                  \
    API CUresult unsupported_##name(void)                                                                  \
    {                                                                                                      \
        static atomic_flag is_reported = ATOMIC_FLAG_INIT;                                                 \
        if (!atomic_flag_test_and_set(&is_reported))                                                       \
            fprintf(stderr, "simulator: " #name " is not supported, and returns CUDA_ERROR_NOT_SUPPORTED\n"); \
        return CUDA_ERROR_NOT_SUPPORTED;                                                                   \
    }

// Texture and surface references; use cuTexObjectCreate and cuSurfObjectCreate.
UNSUPPORTED(cuModuleGetTexRef) UNSUPPORTED(cuModuleGetSurfRef) UNSUPPORTED(cuParamSetTexRef)
UNSUPPORTED(cuTexRefCreate) UNSUPPORTED(cuTexRefDestroy) UNSUPPORTED(cuTexRefSetArray) UNSUPPORTED(cuTexRefGetArray)
UNSUPPORTED(cuTexRefSetAddress_v2) UNSUPPORTED(cuTexRefGetAddress_v2) UNSUPPORTED(cuTexRefSetAddress2D_v2)
UNSUPPORTED(cuTexRefSetAddress2D_v3) UNSUPPORTED(cuTexRefSetFormat) UNSUPPORTED(cuTexRefGetFormat)
UNSUPPORTED(cuTexRefSetAddressMode) UNSUPPORTED(cuTexRefGetAddressMode) UNSUPPORTED(cuTexRefSetFilterMode)
UNSUPPORTED(cuTexRefGetFilterMode) UNSUPPORTED(cuTexRefSetFlags) UNSUPPORTED(cuTexRefGetFlags)
UNSUPPORTED(cuSurfRefSetArray) UNSUPPORTED(cuSurfRefGetArray)

UNSUPPORTED(cuMipmappedArrayCreate) UNSUPPORTED(cuMipmappedArrayDestroy) UNSUPPORTED(cuMipmappedArrayGetLevel)

UNSUPPORTED(cuDeviceGetByPCIBusId) UNSUPPORTED(cuDeviceGetPCIBusId) UNSUPPORTED(cuMemcpyPeer) UNSUPPORTED(cuIpcOpenMemHandle) UNSUPPORTED(cuMemcpyDtoDAsync)

// Interoperability with graphics APIs such as OpenGL.
UNSUPPORTED(cuGraphicsUnregisterResource) UNSUPPORTED(cuGraphicsSubResourceGetMappedArray) UNSUPPORTED(cuGraphicsResourceGetMappedPointer)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2) UNSUPPORTED(cuGraphicsResourceSetMapFlags) UNSUPPORTED(cuGraphicsMapResources)
UNSUPPORTED(cuGraphicsUnmapResources)

// refused.c: unsupported driver calls. They exist so that programs that can do without them link, or find them in libcuda.so.1.
#include "driver/driver.h"

#define REFUSED(name)                                               \
    API CUresult refused_##name(void) __asm__(#name);               \
    API CUresult refused_##name(void)                               \
    {                                                               \
        static atomic_flag said = ATOMIC_FLAG_INIT;                 \
        if (!atomic_flag_test_and_set(&said))                       \
            fprintf(stderr, "simulator: it has no " #name "\n");    \
        return CUDA_ERROR_NOT_SUPPORTED;                            \
    }

// Texture and surface references, replaced by cuTexObjectCreate.
REFUSED(cuModuleGetTexRef) REFUSED(cuModuleGetSurfRef) REFUSED(cuParamSetTexRef)
REFUSED(cuTexRefCreate) REFUSED(cuTexRefDestroy) REFUSED(cuTexRefSetArray) REFUSED(cuTexRefGetArray)
REFUSED(cuTexRefSetAddress_v2) REFUSED(cuTexRefGetAddress_v2) REFUSED(cuTexRefSetAddress2D_v2)
REFUSED(cuTexRefSetAddress2D_v3) REFUSED(cuTexRefSetFormat) REFUSED(cuTexRefGetFormat)
REFUSED(cuTexRefSetAddressMode) REFUSED(cuTexRefGetAddressMode) REFUSED(cuTexRefSetFilterMode)
REFUSED(cuTexRefGetFilterMode) REFUSED(cuTexRefSetFlags) REFUSED(cuTexRefGetFlags)
REFUSED(cuSurfRefSetArray) REFUSED(cuSurfRefGetArray)

// Array copies: use the runtime's cudaMemcpy2DToArray, cudaMemcpy3D and so on.
REFUSED(cuMipmappedArrayCreate) REFUSED(cuMipmappedArrayDestroy) REFUSED(cuMipmappedArrayGetLevel)
REFUSED(cuMemcpyDtoA_v2) REFUSED(cuMemcpyAtoD_v2) REFUSED(cuMemcpyHtoA_v2) REFUSED(cuMemcpyAtoH_v2) REFUSED(cuMemcpyAtoA_v2)
REFUSED(cuMemcpyHtoAAsync_v2) REFUSED(cuMemcpyAtoHAsync_v2) REFUSED(cuMemcpy3D_v2) REFUSED(cuMemcpy3DAsync_v2)
REFUSED(cuArrayGetDescriptor_v2) REFUSED(cuArray3DGetDescriptor_v2)

REFUSED(cuDeviceGetByPCIBusId) REFUSED(cuDeviceGetPCIBusId) REFUSED(cuMemcpyPeer) REFUSED(cuIpcOpenMemHandle) REFUSED(cuMemcpyDtoDAsync)

// Interoperability with OpenGL and other graphics APIs.
REFUSED(cuGraphicsUnregisterResource) REFUSED(cuGraphicsSubResourceGetMappedArray) REFUSED(cuGraphicsResourceGetMappedPointer)
REFUSED(cuGraphicsResourceGetMappedPointer_v2) REFUSED(cuGraphicsResourceSetMapFlags) REFUSED(cuGraphicsMapResources)
REFUSED(cuGraphicsUnmapResources)

// refused.c: calls of the driver that are there so that a program which may do without them can be linked, or find them
// in libcuda.so.1, whatever their arguments are.
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

// References to textures and surfaces, which cuTexObjectCreate has replaced.
REFUSED(cuModuleGetTexRef) REFUSED(cuModuleGetSurfRef) REFUSED(cuParamSetTexRef)
REFUSED(cuTexRefCreate) REFUSED(cuTexRefDestroy) REFUSED(cuTexRefSetArray) REFUSED(cuTexRefGetArray)
REFUSED(cuTexRefSetAddress_v2) REFUSED(cuTexRefGetAddress_v2) REFUSED(cuTexRefSetAddress2D_v2)
REFUSED(cuTexRefSetAddress2D_v3) REFUSED(cuTexRefSetFormat) REFUSED(cuTexRefGetFormat)
REFUSED(cuTexRefSetAddressMode) REFUSED(cuTexRefGetAddressMode) REFUSED(cuTexRefSetFilterMode)
REFUSED(cuTexRefGetFilterMode) REFUSED(cuTexRefSetFlags) REFUSED(cuTexRefGetFlags)
REFUSED(cuSurfRefSetArray) REFUSED(cuSurfRefGetArray)

// Arrays: the runtime's cudaMemcpy2DToArray, cudaMemcpy3D and so on copy them.
REFUSED(cuMipmappedArrayCreate) REFUSED(cuMipmappedArrayDestroy) REFUSED(cuMipmappedArrayGetLevel)
REFUSED(cuMemcpyDtoA_v2) REFUSED(cuMemcpyAtoD_v2) REFUSED(cuMemcpyHtoA_v2) REFUSED(cuMemcpyAtoH_v2) REFUSED(cuMemcpyAtoA_v2)
REFUSED(cuMemcpyHtoAAsync_v2) REFUSED(cuMemcpyAtoHAsync_v2) REFUSED(cuMemcpy3D_v2) REFUSED(cuMemcpy3DAsync_v2)
REFUSED(cuArrayGetDescriptor_v2) REFUSED(cuArray3DGetDescriptor_v2)

REFUSED(cuDeviceGetByPCIBusId) REFUSED(cuDeviceGetPCIBusId) REFUSED(cuMemcpyPeer) REFUSED(cuIpcOpenMemHandle) REFUSED(cuMemcpyDtoDAsync)

// What a program shares with OpenGL and the like.
REFUSED(cuGraphicsUnregisterResource) REFUSED(cuGraphicsSubResourceGetMappedArray) REFUSED(cuGraphicsResourceGetMappedPointer)
REFUSED(cuGraphicsResourceGetMappedPointer_v2) REFUSED(cuGraphicsResourceSetMapFlags) REFUSED(cuGraphicsMapResources)
REFUSED(cuGraphicsUnmapResources)

# The steps in a container. The host needs NVIDIA's driver and container toolkit:
#   docker build -t reduction . && docker run --rm --gpus all reduction make run-all
# The image contains no compiled programs, since the GPU architecture is known only when the container runs.
ARG CUDA=13.0.2
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04

RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make python3-venv \
    && rm -rf /var/lib/apt/lists/*

# The chart libraries come before the programs, so that editing a program does not reinstall them.
WORKDIR /reduction
COPY plots/requirements.txt plots/
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir -r plots/requirements.txt

# touch marks .venv as complete for make.
COPY . .
RUN touch .venv/ready

CMD ["make", "help"]

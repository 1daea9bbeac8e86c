# The steps in a container; the host needs NVIDIA's driver and its container toolkit:
#   docker build -t reduction . && docker run --rm --gpus all reduction make run-all
# Nothing is compiled here: the GPU to compile for is known only where the container runs.
ARG CUDA=13.0.2
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04

RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make python3-venv \
    && rm -rf /var/lib/apt/lists/*

# What draws the charts comes before the programs, so that editing one does not install it anew.
WORKDIR /reduction
COPY plots/requirements.txt plots/
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir -r plots/requirements.txt

# touch tells make that .venv holds all that the list names.
COPY . .
RUN touch .venv/ready

CMD ["make", "help"]

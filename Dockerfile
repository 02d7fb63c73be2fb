# The image of both operators. What is built stays in the first stage: no pip, no compiler, no source tree in the second.
#
# The base is named by digest, so that a tag that somebody moves changes nothing here: python:3.11-slim for all platforms
# (Python 3.11.16, Debian trixie). For a newer one, with its security updates, take the digest that this prints:
#   docker buildx imagetools inspect python:3.11-slim
ARG BASE=python:3.11-slim@sha256:da047cb8f9d1d98e5c070f5300ba9f7274e33b8fc0e5be5ed88740aed1b95ba9

FROM ${BASE} AS build
WORKDIR /build
COPY requirements/base.txt requirements/build.txt requirements/
RUN python -m venv --without-pip /opt/steward \
 && pip --python /opt/steward/bin/python install --no-cache-dir --no-compile --require-hashes -r requirements/base.txt
# The build backend in an environment of its own, by hash: pip would otherwise fetch the newest one for each build.
RUN python -m venv --without-pip /tmp/build \
 && pip --python /tmp/build/bin/python install --no-cache-dir --no-compile --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY config/monitoring config/monitoring
RUN pip --python /tmp/build/bin/python wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /tmp/wheel . \
 && pip --python /opt/steward/bin/python install --no-cache-dir --no-compile --no-deps --no-index /tmp/wheel/*.whl \
 # Imports are several times slower without, and the file system of the operator is read-only.
 && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/steward/lib

FROM ${BASE}
COPY --from=build /opt/steward /opt/steward
ENV PATH=/opt/steward/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
ENTRYPOINT ["steward"]
CMD ["run"]

# The image of both operators. What is built stays in the first stage: no pip, no compiler, no source tree in the second.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS build
WORKDIR /build
COPY requirements/base.txt requirements/
RUN python -m venv --without-pip /opt/steward \
 && pip --python /opt/steward/bin/python install --no-cache-dir --no-compile --require-hashes -r requirements/base.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY config/monitoring config/monitoring
RUN pip --python /opt/steward/bin/python install --no-cache-dir --no-compile --no-deps . \
 # Imports are several times slower without, and the file system of the operator is read-only.
 && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/steward/lib

FROM python:${PYTHON}-slim
COPY --from=build /opt/steward /opt/steward
ENV PATH=/opt/steward/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
ENTRYPOINT ["steward"]
CMD ["run"]

"""The measured templates, from a name to a complete manifest, and the data of one row."""

from __future__ import annotations

from typing import Any

DATA: dict[str, Any] = {
    "uid": "Acme_Corp",
    "hostOrUrl": "https://acme.example.com:8443/app",
    "host": "acme.example.com",
    "activate": "true",
    "plan": "pro",
    "region": "eu-central-1",
    "replicas": 3,
    "cpu": "500m",
    "memory": "512Mi",
    "image": "registry.example.com/app:1.4.2",
    "features": ["search", "export", "sso", "audit"],
    "env": [
        {"name": "LOG_LEVEL", "value": "info"},
        {"name": "REGION", "value": "eu-central-1"},
        {"name": "QUOTA", "value": "250"},
    ],
    "config": {"theme": "dark", "limits": {"users": 250, "projects": 12}, "beta": True},
}

TEMPLATES = {
    "a name": "{{ .uid }}-api",
    "a clean name": '{{ .uid | lower | replace "_" "-" | trunc63 }}',
    "a host": "{{ .hostOrUrl | toHost }}",
    "a hashed name": '{{ printf "%s-%s" (.uid | lower) (sha1sum .host | trunc 8) }}',
    "a condition": '{{ if eq .plan "enterprise" }}10{{ else if eq .plan "pro" }}3{{ else }}1{{ end }}',
    "a default": '{{ index . "tier" | default .plan | quote }}',
    "arithmetic": "{{ mul (int .replicas) 2 | add 1 }}:{{ div 100 (int .replicas) }}:{{ round 2.345 2 }}",
    "a list": "{{ range $i, $f := .features }}{{ if $i }},{{ end }}{{ $f | upper }}{{ end }}",
    "JSON": '{{ dict "uid" .uid "config" .config "features" (sortAlpha .features) | toJson }}',
    "labels": """\
app.kubernetes.io/name: {{ .uid | lower | replace "_" "-" }}
app.kubernetes.io/instance: {{ .uid | sha1sum | trunc 12 }}
app.kubernetes.io/part-of: {{ .plan }}
region: {{ .region | quote }}
host: {{ .host | replace "." "-" | trunc 63 | trimSuffix "-" }}
""",
    "a ConfigMap": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .uid | lower | replace "_" "-" }}-config
  labels:
    tenant: {{ .uid | lower | quote }}
    plan: {{ .plan }}
data:
  host: {{ .host | quote }}
  url: {{ .hostOrUrl | quote }}
{{- range .env }}
  {{ .name | lower }}: {{ .value | quote }}
{{- end }}
  config.json: |
    {{- .config | toPrettyJson | nindent 4 }}
{{- if has "sso" .features }}
  sso: "enabled"
{{- end }}
  features: {{ .features | join "," | quote }}
  replicas: {{ .replicas | toString | quote }}
""",
    "a Deployment": """\
{{- $name := .uid | lower | replace "_" "-" | trunc63 -}}
{{- define "labels" -}}
app: {{ .name }}
tenant: {{ .row.uid | lower | quote }}
plan: {{ .row.plan }}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  annotations:
    checksum/config: {{ .config | toJson | sha256sum }}
    host: {{ toHost .hostOrUrl }}
  labels:
    app: {{ $name }}
    tenant: {{ .uid | lower | quote }}
spec:
  replicas: {{ if eq .plan "enterprise" }}{{ mul (int .replicas) 2 }}{{ else }}{{ int .replicas }}{{ end }}
  selector:
    matchLabels:
      app: {{ $name }}
  template:
    metadata:
      labels:
        {{ template "labels" (dict "name" $name "row" .) }}
    spec:
      containers:
        - name: app
          image: {{ .image | quote }}
          args:
            - --host={{ .host }}
            - --region={{ .region | default "eu-central-1" }}
{{- range .features }}
            - --feature={{ . }}
{{- end }}
          env:
            - name: TENANT
              value: {{ .uid | quote }}
{{- range .env }}
            - name: {{ .name }}
              value: {{ .value | quote }}
{{- end }}
          resources:
            requests:
              cpu: {{ .cpu }}
              memory: {{ .memory }}
            limits:
              memory: {{ .memory | trimSuffix "Mi" | int | mul 2 }}Mi
{{- with .config }}
          volumeMounts:
            - name: config-{{ .theme }}
              mountPath: /etc/app
{{- end }}
          readinessProbe:
            httpGet:
              path: /healthz
              port: 8080
{{- if and (has "audit" .features) (eq .activate "true") }}
        - name: audit
          image: {{ printf "%s-audit" .image | quote }}
{{- end }}
""",
}

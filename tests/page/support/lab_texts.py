"""A template and rows for the lab."""

TEMPLATE = """
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {name: web}
spec:
  registryId: customers
  configMaps:
    - id: settings
      nameTemplate: "{{ .uid }}-settings"
      spec:
        apiVersion: v1
        kind: ConfigMap
        data: {host: "{{ .host }}"}
"""
SECRET = """
  secrets:
    - id: password
      nameTemplate: "{{ .uid }}-password"
      spec:
        apiVersion: v1
        kind: Secret
        stringData: {password: "{{ .uid }}-secret"}
"""
ROWS = "uid,hostOrUrl,activate\nacme,https://acme.example.com,true\n"

-- Health of a custom resource of Steward for Argo CD, from its conditions: the same rule for every kind.
local hs = { status = "Progressing", message = "the operator has not seen it yet" }
local status = obj.status
if status == nil or status.conditions == nil then
  return hs
end
local generation = obj.metadata.generation
if status.observedGeneration ~= nil and generation ~= nil and status.observedGeneration < generation then
  hs.message = "the operator has not seen the latest change yet"
  return hs
end
local found = {}
for _, condition in ipairs(status.conditions) do
  found[condition.type] = condition
end
local function is(name, value)
  return found[name] ~= nil and found[name].status == value
end
local function report(name, health)
  hs.status = health
  hs.message = found[name].message or ""
  return hs
end
if is("Stalled", "True") then
  return report("Stalled", "Degraded")
end
if is("DeletionHeld", "True") then
  return report("DeletionHeld", "Suspended")
end
if is("Degraded", "True") then
  return report("Degraded", "Degraded")
end
if is("Reconciling", "True") then
  return report("Reconciling", "Progressing")
end
for _, name in ipairs({ "Ready", "Applied" }) do
  if is(name, "True") then
    return report(name, "Healthy")
  end
  if is(name, "False") then
    return report(name, "Progressing")
  end
end
hs.status = "Healthy"
hs.message = ""
return hs

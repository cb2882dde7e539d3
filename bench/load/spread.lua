-- POST of bodies in turn with keys in turn, so that every key is used. Environment: TARGET, a path; BODIES, a file with one body a line; KEYS, a file of keys, one a line; FROM, the number of the first key.
dofile(os.getenv("LOAD_DIR") .. "/report.lua")
local function lines(name)
  local all = {}
  for line in io.lines(os.getenv(name)) do all[#all + 1] = line end
  return all
end
local target, keys, bodies = os.getenv("TARGET"), lines("KEYS"), lines("BODIES")
local headers = { ["content-type"] = "application/json" }
local next = tonumber(os.getenv("FROM") or "0")
function request()
  headers["x-api-key"] = keys[next % #keys + 1]
  next = next + 1
  return wrk.format("POST", target, headers, bodies[next % #bodies + 1])
end

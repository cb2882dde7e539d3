-- POST of bodies in turn. Environment: TARGETS, a file of paths (used in turn); BODIES, a file with one body a line; KEYS, a file of keys in the order of TARGETS.
dofile(os.getenv("LOAD_DIR") .. "/report.lua")
local function lines(name)
  local all = {}
  for line in io.lines(os.getenv(name)) do all[#all + 1] = line end
  return all
end
local targets, keys, bodies = lines("TARGETS"), lines("KEYS"), lines("BODIES")
local prepared, next = {}, 0
function init(args)
  for index, body in ipairs(bodies) do
    local place = (index - 1) % #targets + 1
    prepared[index] = wrk.format("POST", targets[place],
      { ["content-type"] = "application/json", ["x-api-key"] = keys[place] }, body)
  end
end
function request()
  next = next % #prepared + 1
  return prepared[next]
end

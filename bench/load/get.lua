-- GET of random targets. Environment: TARGETS, a file of targets, one a line; PROPERTY_EVENTS_KEY; ACCEPT_ENCODING; TAG.
dofile(os.getenv("LOAD_DIR") .. "/report.lua")
local targets = {}
for line in io.lines(os.getenv("TARGETS")) do targets[#targets + 1] = line end
if os.getenv("PROPERTY_EVENTS_KEY") then wrk.headers["x-api-key"] = os.getenv("PROPERTY_EVENTS_KEY") end
if os.getenv("ACCEPT_ENCODING") then wrk.headers["accept-encoding"] = os.getenv("ACCEPT_ENCODING") end
if os.getenv("TAG") then wrk.headers["if-none-match"] = os.getenv("TAG") end
math.randomseed(tonumber(os.getenv("SEED") or "1"))
local prepared = {}
function init(args)
  for index = 1, #targets do prepared[index] = wrk.format("GET", targets[index]) end
end
function request() return prepared[math.random(#prepared)] end

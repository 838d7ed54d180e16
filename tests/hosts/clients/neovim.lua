-- Neovim: `lsp` is vim.lsp.rpc.start (Content-Length, its own table of replies, ends by terminating the child),
-- `job` is jobstart (lines, stdio is a UNIX socket on some versions, ends with jobstop: SIGTERM).
local place = vim.json.decode(vim.env.HOST_PLACE)
local way = vim.env.HOST_WAY
local big = string.rep("Füße ✓ 漢字 🧵 \226\128\168|", 240000)
local heard, command = {}, { place.sidecar, unpack(place.arguments) }

local function wait(ready)
  assert(vim.wait(20000, ready, 2), "no answer within 20 seconds")
end

local send, tell, finish
if way == "lsp" then
  local dispatchers = {
    notification = function(method) heard[method] = true end,
    on_error = function(code, problem) io.stderr:write("rpc error ", tostring(code), vim.inspect(problem), "\n") end,
  }
  local rpc
  if vim.fn.has("nvim-0.11") == 1 then
    rpc = vim.lsp.rpc.start(command, dispatchers)
  else
    rpc = vim.lsp.rpc.start(place.sidecar, place.arguments, dispatchers)
  end
  -- of a cancelled request it tells only that it is over: the fourth argument
  send = function(method, params, back, over)
    local _, id = rpc.request(method, params, back, over)
    return id
  end
  tell = function(method, params) rpc.notify(method, params) end
  finish = function()
    if rpc.terminate then rpc.terminate() else rpc.handle:kill(15) end
  end
else
  local waiting, next_id, rest = {}, 0, ""
  local job = vim.fn.jobstart(command, {
    on_stdout = function(_, data)
      rest = rest .. data[1]
      for index = 2, #data do
        local message = vim.json.decode(rest)
        rest = data[index]
        if message.method then
          heard[message.method] = true
        else
          waiting[message.id](message.error, message.result)
        end
      end
    end,
  })
  send = function(method, params, back)
    local id = next_id -- from 0
    next_id, waiting[id] = next_id + 1, back
    vim.fn.chansend(job, vim.json.encode({ id = id, method = method, params = params }) .. "\n")
    return id
  end
  tell = function(method, params) vim.fn.chansend(job, vim.json.encode({ method = method, params = params }) .. "\n") end
  finish = function() vim.fn.jobstop(job) end
end

local function ask(method, params)
  local done, problem, result
  send(method, params, function(refused, given) done, problem, result = true, refused, given end)
  wait(function() return done end)
  assert(problem == nil or problem == vim.NIL, vim.inspect(problem))
  return result
end

local function cancelled(method, params)
  local code
  local function over() code = code or -32800 end
  local id = send(method, params, function(refused) code = refused and refused.code or "it was not cancelled" end, over)
  tell("$/cancelRequest", { id = id })
  wait(function() return code end)
  return code
end

local function story()
  local hello = ask("initialize", { processId = vim.fn.getpid(), clientInfo = { name = "neovim", version = "1" } })
  tell("initialized", {})
  local thread = ask("thread/start", { cwd = place.workspace }).thread.id
  local turn = ask("turn/start", { threadId = thread, input = { { type = "text", text = "Change the poem" } } }).turn.id
  local function append(...)
    return ask("agentSession/runtimeEvents/append", { sessionId = thread, turnId = turn, runtimeEvents = { ... } })
  end
  local function snapshot(content, absent)
    return { type = "artifact.snapshot", payload = { path = "poem.txt", content = content, beforeAbsent = absent } }
  end
  append(snapshot("Over,\nunder.\n", true), snapshot("Over,\nunder,\nlocked.\n"))
  append({ type = "message.created", payload = { role = "assistant", content = big } })
  local checkpoints = ask("agentSession/fileCheckpoint/list", { sessionId = thread }).checkpoints
  local which = { sessionId = thread, checkpointId = checkpoints[1].checkpointId }
  local got = ask("agentSession/fileCheckpoint/get", which)
  local diff = ask("agentSession/fileCheckpoint/diff", which).diff
  local said
  for _, row in ipairs(ask("thread/items/list", { threadId = thread }).data) do
    if row.item.type == "agentMessage" then said = row.item.text end
  end
  local refused = cancelled("thread/replay", { threadId = thread, speed = 0.0001 })
  local done = append({ type = "turn.completed" }) -- `payload = {}` would be sent as []
  wait(function() return heard["turn/completed"] end)
  local pid
  for _, one in ipairs(ask("server/status", {}).processes) do
    if one.bootId == hello.bootId then pid = one.pid end
  end
  return {
    server = hello.serverInfo.title,
    versions = vim.tbl_map(function(one) return one.versionNo end, checkpoints),
    content = got.content,
    unified = diff.unified,
    bigIsWhole = said == big,
    bigBytes = #said,
    cancelled = refused,
    lastSequence = done.events[1].sequence,
    heard = vim.tbl_filter(
      function(name) return heard[name] end,
      { "thread/started", "turn/started", "item/completed", "turn/completed" }
    ),
    pid = pid,
  }
end

local ok, facts = xpcall(story, debug.traceback)
local version = vim.version()
if ok then
  io.stdout:write(vim.json.encode({
    name = way == "lsp" and "Neovim vim.lsp.rpc" or "Neovim jobstart",
    version = ("Neovim %d.%d.%d"):format(version.major, version.minor, version.patch),
    framing = way == "lsp" and "Content-Length" or "lines",
    facts = facts,
  }), "\n")
else
  io.stderr:write(facts, "\n")
end
finish()
vim.cmd(ok and "qall!" or "cquit!")

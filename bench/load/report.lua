-- Shared by the load scripts: prints one JSON line of what a run saw. Environment: REFUSED, set where every answer is to be a refusal.
function done(summary, latency, requests)
  local unexpected = summary.errors.status
  if os.getenv("REFUSED") then unexpected = summary.requests - unexpected end
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"p50Ms":%.4f,"p99Ms":%.4f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + unexpected + summary.errors.timeout))
end

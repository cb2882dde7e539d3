-- Shared by the load scripts: prints one JSON line of what a run saw.
function done(summary, latency, requests)
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"p50Ms":%.4f,"p99Ms":%.4f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end

/**
 * Sends PING to every server every few milliseconds, from a process that does nothing else, and times the answers. A PING
 * that is not answered yet is waited for, so a pause counts in full. It says "asking" once the first answer is there, forgets what it
 * has timed at "begin", and tells all at "end".
 */
import { connect } from "node:net";
import { systemClock } from "../../../src/core/clock.ts";

const PERIOD_MS = 2;

const probes = process.argv.slice(2).map((port) => {
  const probe = {
    socket: connect({ port: Number(port), host: "127.0.0.1", noDelay: true }),
    sentAt: 0,
    times: [] as number[],
  };
  probe.socket.on("data", () => {
    if (probe.times.length === 0) process.send!("asking");
    probe.times.push(systemClock.monotonic() - probe.sentAt);
    probe.sentAt = 0;
  });
  probe.socket.on("error", () => {});
  return probe;
});
const timer = setInterval(() => {
  for (const probe of probes) {
    if (probe.sentAt !== 0) continue;
    probe.sentAt = systemClock.monotonic();
    probe.socket.write("PING\r\n");
  }
}, PERIOD_MS);

process.on("message", (word) => {
  if (word === "begin") {
    for (const probe of probes) probe.times = [probe.times.at(-1)!];
    return;
  }
  clearInterval(timer);
  for (const { socket } of probes) socket.destroy();
  process.send!(
    probes.map(({ times }) => Float64Array.from(times).sort()),
    () => process.disconnect(),
  );
});

/** The shared worker: holds the stream of events for all pages of this browser. */
import { Hub, type Member, type Wish } from "./hub.ts";

const hub = new Hub();

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const member: Member = { hear: (heard) => port.postMessage(heard) };
  port.onmessage = ({ data }: MessageEvent<Wish>) => hub.say(member, data);
});

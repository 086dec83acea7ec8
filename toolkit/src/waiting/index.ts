/** What programs of their own may use of the kit. */
export { Channel, type ChannelEvents } from "./channel.ts";

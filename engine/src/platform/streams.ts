/** Streams to other programs. */
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

export type { TcpNetConnectOpts } from "node:net";
export type { Duplex };

/** Whether it is the system's: its chunks may be taken before they become events. */
export const isSocket = (stream: Duplex): boolean => stream instanceof Socket;

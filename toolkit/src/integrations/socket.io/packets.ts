/** The channels that messages between processes go by. */

export const DEFAULT_PREFIX = "socket.io";

export const everybody = (prefix: string, namespace: string): string => `${prefix}:{${namespace}}`;
export const oneServer = (prefix: string, namespace: string, uid: string): string => `${prefix}:{${namespace}}:${uid}`;

/** What `ps` shows of the server: proc-title-template with its variables filled in. */
import type { ConfigValues } from "../config/directives.ts";

export function processTitle(program: string, values: ConfigValues, configFile: string): string {
  const { port, bind, unixsocket } = values;
  const shown = port || values["tls-port"];
  const variables: Readonly<Record<string, string>> = {
    title: program,
    "listen-addr": shown === 0 ? unixsocket : `${bind[0] ?? "*"}:${shown}`,
    "server-mode": values["cluster-enabled"] ? "[cluster]" : "",
    port: String(port),
    "tls-port": String(values["tls-port"]),
    unixsocket,
    "config-file": configFile,
  };
  // The directive refuses other names.
  return values["proc-title-template"]
    .replace(/\{([a-z-]+)\}/g, (whole, name: string) => variables[name] ?? whole)
    .trimEnd();
}

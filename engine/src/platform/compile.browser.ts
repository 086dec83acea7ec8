/** Text to a function of this program. A page whose Content-Security-Policy lacks 'unsafe-eval' cannot run scripts. */

/** `name` is what frames of it are called on the stack. The code begins in its first line, as lines are what errors name. */
export function compile(code: string, parameters: readonly string[], name: string): (...values: never[]) => unknown {
  // biome-ignore lint/security/noGlobalEval: the code is the engine's own, made from a script; no name of the script is in it.
  const indirect = eval;
  return indirect(`(function (${parameters.join(", ")}) {${code}\n})\n//# sourceURL=${name}`);
}

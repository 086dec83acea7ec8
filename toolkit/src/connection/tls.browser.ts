/** Browsers have no TLS that a program could set: what was said is the reason. */
export const tlsReason = (_code: unknown, said: string, _isSecure: boolean): string => said;

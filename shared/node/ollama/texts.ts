/** Words for what goes wrong on the way to the server. */

/** `1,800 s`, `2 s`, `0.25 s`. */
export function secondsText(durationMs: number): string {
  const seconds = durationMs / 1000;
  return `${seconds >= 1 ? Math.round(seconds).toLocaleString('en-US') : seconds} s`;
}

const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'name lookup failed',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  EADDRNOTAVAIL: 'no such address on this machine',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  EPROTO: 'no TLS there: try http://',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS there: try http://',
};

/** One short phrase for a socket error; the code itself where there is no better word. */
export function failureText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('HPE_')) return 'answers, but not in HTTP';
  return codes[code] ?? (code === '' ? error.message : code);
}

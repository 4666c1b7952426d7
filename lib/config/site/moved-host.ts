/** Whether a DNS name is a domain, or lies in it. */
export const isWithin = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`);

/** A DNS name in another domain; as it was, if it does not lie in the first one. */
export const movedHost = (host: string, from: string, to: string): string =>
  isWithin(host, from) ? `${host.slice(0, -from.length)}${to}` : host;

/** By what the host of the control plane is known: no worker may have any of it. */
export interface OwnHost {
  /** Of its Node. */
  readonly ownName: string;
  /** `<cluster>.<base domain>`, in which the names of the API and of the applications are. */
  readonly clusterDomain: string;
  /** In canonical form, further ones in the API server's certificate among them. */
  readonly ownAddresses: readonly string[];
  /** Further names in the API server's certificate, in lower case (`bootstrapInPlace.apiNames`). */
  readonly apiNames: readonly string[];
}

/** By which pods know the API server; its certificate has all of them. */
const OF_SERVICE = /^kubernetes(\.default(\.svc(\.cluster\.local)?)?)?$/;

/** Whether a name in lower case is one of the control plane's, short or with its domain. */
export function isNameOfOwnHost(
  name: string,
  { ownName, clusterDomain, apiNames }: Omit<OwnHost, 'ownAddresses'>,
): boolean {
  if (name === ownName || OF_SERVICE.test(name) || name === clusterDomain) return true;
  if (apiNames.includes(name)) return true;
  if (['api', 'api-int', 'apps'].some((of) => name === `${of}.${clusterDomain}`)) return true;
  if (name.endsWith(`.apps.${clusterDomain}`)) return true;
  const short = ownName.replace(/\..*$/, '');
  if (short !== ownName) return name === short;
  const parents = clusterDomain.split('.').map((_, at, all) => all.slice(at).join('.'));
  return parents.some((parent) => name === `${short}.${parent}`);
}

/** Which name or address of the control plane a worker has; undefined if none. */
export function ownOfWorker(
  { name, addresses }: { readonly name: string; readonly addresses: readonly string[] },
  own: OwnHost,
): string | undefined {
  if (isNameOfOwnHost(name, own)) return name;
  return addresses.find((address) => own.ownAddresses.includes(address));
}

/**
 * Whether an os-release is that of a CoreOS of OpenShift: RHCOS and SCOS up to 4.18 by their own IDs, later by those of the
 * distribution that they are made of, with VARIANT_ID=coreos (openshift/machine-config-operator, pkg/daemon/osrelease).
 * Fedora CoreOS is none: OKD has left it with 4.16.
 */
export function isCoreOs(osRelease: string): boolean {
  const id = assigned(osRelease, 'ID');
  if (id === 'rhcos' || id === 'scos') return true;
  return (id === 'rhel' || id === 'centos') && assigned(osRelease, 'VARIANT_ID') === 'coreos';
}

/** For people; undefined: it names itself nothing. */
export const prettyName = (osRelease: string): string | undefined =>
  assigned(osRelease, 'PRETTY_NAME');

/** os-release(5): the last assignment counts; values may be quoted. */
const assigned = (osRelease: string, name: string): string | undefined =>
  osRelease
    .split('\n')
    .findLast((line) => line.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2');

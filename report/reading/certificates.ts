import type { BundleView, Evidence } from '../bundle-view.ts';
import { whereSaid } from './evidence.ts';
import { hostFiles } from './hosts.ts';
import { at, listAt, msAt, textAt } from './values.ts';

export interface HostCertificate {
  /** Path on the host. */
  readonly file: string;
  readonly subject: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isAuthority: boolean;
  evidence(): Evidence[];
}

/** The certificates in use; those replaced by a newer one are omitted. */
export function certificatesInUse(view: BundleView): HostCertificate[] {
  const all = certificates(view);
  return all.filter((one) => !all.some((other) => replaces(other, one)));
}

function certificates(view: BundleView): HostCertificate[] {
  return hostFiles(view, 'certificates/certificates.json').flatMap((path) =>
    listAt(view.json(path)).flatMap((raw) => {
      const [notBeforeMs, notAfterMs] = [msAt(raw, 'notBefore'), msAt(raw, 'notAfter')];
      if (notBeforeMs === undefined || notAfterMs === undefined) return [];
      const file = textAt(raw, 'file') ?? 'a file';
      return [
        {
          file,
          subject: textAt(raw, 'subject') ?? 'no subject',
          notBeforeMs,
          notAfterMs,
          isAuthority: at(raw, 'isAuthority') === true,
          evidence: () => whereSaid(view, path, textAt(raw, 'notAfter') ?? file),
        },
      ];
    }),
  );
}

/**
 * Rotation keeps the old ones: the kubelet's in files with dates in their names, those of
 * OpenShift's operators in folders with revisions, CA certificates beside their successors.
 */
function replaces(newer: HostCertificate, older: HostCertificate): boolean {
  if (newer.notAfterMs <= older.notAfterMs) return false;
  if (older.isAuthority && newer.isAuthority && newer.file === older.file) return true;
  return newer.subject === older.subject && family(newer.file) === family(older.file);
}

const family = (file: string): string =>
  file.replace(/-(current|\d[\d-]*)\.pem$/, '-*.pem').replaceAll(/\d+/g, '#');

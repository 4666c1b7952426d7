import type { BundleView, Evidence } from '../bundle-view.ts';
import { whereSaid } from './evidence.ts';
import { hostFiles } from './hosts.ts';
import { at, listAt, msAt, textAt } from './values.ts';

export interface HostCertificate {
  /** On the host. */
  readonly file: string;
  readonly subject: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isAuthority: boolean;
  evidence(): Evidence[];
}

/** The certificates that are in use: what a newer one has replaced is left out. */
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
 * Rotation leaves the old ones: the kubelet's in files with dates in their names, OpenShift's
 * operators' in folders with revisions, authorities beside their successors in one bundle.
 */
function replaces(newer: HostCertificate, older: HostCertificate): boolean {
  if (newer.notAfterMs <= older.notAfterMs) return false;
  if (older.isAuthority && newer.isAuthority && newer.file === older.file) return true;
  return newer.subject === older.subject && family(newer.file) === family(older.file);
}

const family = (file: string): string =>
  file.replace(/-(current|\d[\d-]*)\.pem$/, '-*.pem').replaceAll(/\d+/g, '#');

import type { Minor } from '../../base/minor.ts';

/** What depends on a release: each part judges releases by the table below. */
export const RELEASE_PARTS = ['takeOver', 'render', 'relocate'] as const;
export type ReleasePart = (typeof RELEASE_PARTS)[number];

/**
 * How a part is known for a release:
 * - `run`: programs or files of that release went through it, at least in parts;
 * - `read`: what the part depends on was read in the sources of that release;
 * - `compared`: only what changed since the release before was read, in the repositories that are named.
 */
export type Knowledge = 'run' | 'read' | 'compared';

export interface OpenShiftReleaseRow extends Readonly<Partial<Record<ReleasePart, Knowledge>>> {
  readonly minor: Minor;
  readonly kubernetes: Minor;
  /** What was read or run, for people. */
  readonly seen: string;
}

const INSTALLER = 'openshift/installer: data/data/bootstrap, and the changes to bootkube.sh';
const COMPARED =
  "the machine-config operator's templates and its check of the disk; the types of config.openshift.io; of the installer names of files only";

/**
 * Oldest first. Repositories were read as they were on 2026-08-20, the branches release-4.19 to release-5.0; 4.23 and 5.0 are one
 * branch in most of them. OKD has the same releases. A release that is not here is unknown.
 */
export const OPENSHIFT_RELEASES: readonly OpenShiftReleaseRow[] = [
  { minor: '4.14', kubernetes: '1.27', takeOver: 'read', render: 'read', seen: INSTALLER },
  { minor: '4.15', kubernetes: '1.28', takeOver: 'read', render: 'read', seen: INSTALLER },
  { minor: '4.16', kubernetes: '1.29', takeOver: 'read', render: 'read', seen: INSTALLER },
  { minor: '4.17', kubernetes: '1.30', takeOver: 'read', render: 'read', seen: INSTALLER },
  { minor: '4.18', kubernetes: '1.31', takeOver: 'read', render: 'read', seen: INSTALLER },
  {
    minor: '4.19',
    kubernetes: '1.32',
    takeOver: 'run',
    render: 'read',
    relocate: 'read',
    seen: 'openshift-install runs, and its Ignition configs are taken over; machine-config operator read',
  },
  {
    minor: '4.20',
    kubernetes: '1.33',
    takeOver: 'read',
    render: 'read',
    relocate: 'read',
    seen: `${INSTALLER}; machine-config operator`,
  },
  {
    minor: '4.21',
    kubernetes: '1.34',
    takeOver: 'read',
    render: 'run',
    relocate: 'run',
    seen: "the lab's OpenShift scenarios; the site's objects on its API server 1.34.1. No operator of it but the machine-config operator, no host of CoreOS",
  },
  {
    minor: '4.22',
    kubernetes: '1.35',
    takeOver: 'compared',
    render: 'read',
    relocate: 'compared',
    seen: `the render commands of all operators; ${COMPARED}`,
  },
  {
    minor: '4.23',
    kubernetes: '1.36',
    takeOver: 'compared',
    render: 'compared',
    relocate: 'compared',
    seen: 'the same as of 5.0, whose branch it shares',
  },
  {
    minor: '5.0',
    kubernetes: '1.36',
    takeOver: 'compared',
    render: 'compared',
    relocate: 'compared',
    seen: `the render commands of all operators: no flag differs from 4.22; ${COMPARED}`,
  },
];

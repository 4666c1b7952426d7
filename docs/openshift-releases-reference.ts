import {
  type Knowledge,
  OPENSHIFT_RELEASES,
  RELEASE_PARTS,
} from '../lib/config/openshift/releases.ts';
import { row, table } from './markdown-table.ts';

/** The table of OpenShift's releases, as Markdown. */
export function openShiftReleasesReference(): string {
  const heads = ['Release', 'Kubernetes', 'Take-over', 'Rendering', 'Relocation', 'What was seen'];
  const rows = OPENSHIFT_RELEASES.toReversed().map((each) =>
    row([
      each.minor,
      each.kubernetes,
      ...RELEASE_PARTS.map((part) => each[part] ?? 'refused'),
      each.seen,
    ]),
  );
  const meanings = Object.entries(MEANINGS).map(([word, meaning]) => `- *${word}*: ${meaning}`);
  return `# Releases of OpenShift and OKD

Generated from the code by \`docs/generate.ts\`; do not edit. What follows from it is in [OpenShift](../openshift.md#releases).

${table(heads, rows)}

${meanings.join('\n')}
- *refused*: older than what was looked at.

A newer release is unknown: it is refused without \`--accept-unknown-release\`. Patch versions make no difference.
`;
}

const MEANINGS: Readonly<Record<Knowledge, string>> = {
  run: 'programs or files of that release went through it, at least in parts.',
  read: 'what the part depends on was read in the sources of that release.',
  compared: 'only what changed since the release before was read, in what the last column names.',
};

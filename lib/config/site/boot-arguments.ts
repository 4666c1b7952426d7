import type { Problem } from '../../base/errors/problem.ts';

/** Kernel arguments that are set elsewhere, and where. */
const OWNED: readonly [RegExp, string][] = [
  [/^ignition\./, 'Ignition is configured by the agents'],
  [/^coreos\.(inst|live)/, 'the installation is configured in install-config.yaml'],
  [/^(root|rootflags|rootfstype|boot|ostree)(\.|=|$)/, 'coreos-installer sets it for the disk'],
  [/^fips(=|$)/, 'FIPS mode is not supported'],
];

/** A space would split it in two, a quote would swallow the following ones. */
export const KERNEL_ARGUMENT = /^[A-Za-z0-9_][!#-~]{0,255}$/;

/** Why a string is not a single kernel argument for the installed system. */
export function kernelArgumentProblem(text: string): Problem | undefined {
  const owner = OWNED.find(([name]) => name.test(text))?.[1];
  if (owner !== undefined) {
    return { expected: 'an argument that is not set elsewhere', fix: `Omit it: ${owner}.` };
  }
  if (KERNEL_ARGUMENT.test(text)) return undefined;
  return {
    expected: 'one kernel argument without spaces or quotes',
    fix: 'Write each argument as a separate entry, such as console=ttyS0,115200n8.',
  };
}

/** A GPT label has at most 36 characters; a comma would separate two of them. */
export function isPartitionLabel(text: string): boolean {
  return /^[^,\p{C}\p{Zl}\p{Zp}]{1,36}$/u.test(text) && text.trim() !== '';
}

/** A partition number, or a range that may be open at one end: `5`, `5-7`, `5-`, `-7`. */
export function isPartitionIndex(index: string | number): boolean {
  const [, from, range, to] = /^(\d{0,3})(-?)(\d{0,3})$/.exec(String(index)) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return false;
  if (/^0+$/.test(from) || /^0+$/.test(to)) return false;
  return range === '' || from === '' || to === '' || Number(from) <= Number(to);
}

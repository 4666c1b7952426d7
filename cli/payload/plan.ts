import { type Architecture, architectures } from '../../lib/host/architecture.ts';
import { missingAddOns } from '../../lib/payload/add-ons.ts';
import type { PayloadDescription } from '../../lib/payload/payload.ts';
import { usedPlugins } from '../../lib/payload/required.ts';
import type { BinaryPart, ImagePart, PayloadParts } from './parts.ts';
import type { PayloadRequest } from './request.ts';
import { defaultReference, versionsOf } from './versions.ts';

export interface PlannedImage {
  part: ImagePart;
  reference: string;
}

/** The contents of a payload, free of contradictions. */
export interface PayloadPlan {
  architecture: Architecture;
  versions: PayloadDescription['versions'];
  images: PlannedImage[];
  binaries: BinaryPart[];
  /** Valid input that may not be what was intended. */
  notices: string[];
}

/** Decides what the parts leave open; every fault is added to `faults`. */
export function planPayload(
  request: PayloadRequest,
  parts: PayloadParts,
  faults: string[],
): PayloadPlan | undefined {
  const versions = versionsOf(request.versions, parts, faults);
  const images = byName(parts.images).flatMap((part) => {
    const reference = referenceOf(part, versions);
    if (reference !== undefined) return [{ part, reference }];
    faults.push(
      `--image ${part.name}=${part.path}: a program has no reference. Set one with --reference ${part.name}=REGISTRY/REPOSITORY:TAG`,
    );
    return [];
  });
  noteTwice(
    'reference',
    images.map(({ reference }) => reference),
    faults,
  );
  noteTwice(
    'binary',
    parts.binaries.map(({ name }) => name),
    faults,
  );
  const architecture = architectureOf(parts, faults);
  if (architecture === undefined) return undefined;
  const ofKind = (wanted: BinaryPart['kind']) =>
    byName(parts.binaries.filter(({ kind }) => kind === wanted));
  const binaries = [...ofKind('host'), ...ofKind('cni')];
  return { architecture, versions, images, binaries, notices: noticesOf(parts) };
}

function referenceOf(part: ImagePart, versions: PayloadPlan['versions']): string | undefined {
  if (part.kind === 'archive') return part.chosen.reference;
  return part.reference ?? defaultReference(part.name, versions);
}

/** The order of the command line makes no difference. */
function byName<Part extends { name: string }>(parts: readonly Part[]): Part[] {
  return parts.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function noteTwice(what: string, values: readonly string[], faults: string[]): void {
  const twice = values.filter((value, index) => values.indexOf(value) !== index);
  for (const value of new Set(twice)) faults.push(`the ${what} ${value} occurs twice`);
}

function architectureOf(parts: PayloadParts, faults: string[]): Architecture | undefined {
  const found = new Map<string, string[]>();
  const note = (architecture: string, label: string) =>
    found.set(architecture, [...(found.get(architecture) ?? []), label]);
  for (const part of parts.images) {
    const { architecture } = part.kind === 'archive' ? part.chosen.image : part.program;
    note(architecture, `image ${part.name}`);
  }
  for (const { name, program } of parts.binaries) note(program.architecture, `binary ${name}`);
  const list = [...found].map(([architecture, labels]) => `${architecture}: ${labels.join(', ')}`);
  if (found.size > 1) faults.push(`parts for different architectures (${list.join('; ')})`);
  const architecture = architectures.find((known) => found.has(known));
  if (architecture === undefined && found.size === 1) {
    faults.push(`parts for an unsupported architecture (${list.join('; ')})`);
  }
  return architecture;
}

function noticesOf({ images, binaries, leftOut }: PayloadParts): string[] {
  const plugins = binaries.filter(({ kind }) => kind === 'cni').map(({ name }) => name);
  const missing = usedPlugins.filter((name) => !plugins.includes(name));
  return [
    ...images.flatMap((part) =>
      part.kind === 'program' && !part.program.isStatic
        ? [`${part.path} needs shared libraries, which its image does not contain`]
        : [],
    ),
    ...(missing.length === 0
      ? []
      : [`no network plugin ${missing.join(', ')}: the OS image must have it in /opt/cni/bin`]),
    ...missingAddOns(images.map(({ name }) => name)),
    ...(leftOut.length === 0 ? [] : [`not programs, left out: ${leftOut.join(', ')}`]),
  ];
}

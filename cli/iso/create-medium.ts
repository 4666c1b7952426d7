import { type AddedFile, contentArguments, runXorriso } from './add-files.ts';

export interface MediumRequest {
  /** An empty file. */
  readonly iso: string;
  readonly label: string;
  readonly folder: string;
  readonly files: readonly AddedFile[];
  readonly signal: AbortSignal;
}

/** Writes a data ISO. The same files give the same bytes. */
export async function createMedium({ signal, ...request }: MediumRequest): Promise<void> {
  await runXorriso(mediumArguments(request), signal);
}

/** The pure part of createMedium. Joliet and Rock Ridge keep long names and the label's case. */
export function mediumArguments(request: Omit<MediumRequest, 'signal'>): string[] {
  const { iso, label, folder, files } = request;
  return [
    ...['-no_rc', '-return_with', 'SORRY', '32', '-abort_on', 'SORRY'],
    ...['-disk_pattern', 'off', '-iso_rr_pattern', 'off', '-overwrite', 'off'],
    ...['-joliet', 'on', '-stdio_sync', 'off', '-outdev', `stdio:${iso}`, '-volid', label],
    ...['-uid', '0', '-gid', '0'],
    ...contentArguments(files, folder),
    ...['-commit', '-end'],
  ];
}

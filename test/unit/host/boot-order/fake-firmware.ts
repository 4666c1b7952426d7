import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** The firmware's variables; entries with their device paths as printed by efibootmgr. */
export interface FakeVariables {
  current?: string;
  next?: string;
  order: string[];
  entries: Record<string, { label: string; path: string }>;
  /** How the firmware misbehaves. */
  fault?: 'read-only' | 'full' | 'forgets-entries' | 'keeps-its-order' | 'refuses-orders';
  /** GUID of a disk's first partition, for new entries. */
  partition?: string;
}

/**
 * Emulates efibootmgr on files instead of firmware. In sh, because each call would otherwise take a
 * tenth of a second to start Node.
 */
const EFIBOOTMGR = `#!/bin/sh
cd "$FAKE_FIRMWARE" || exit 1
content() { value=; [ ! -f "$1" ] || IFS= read -r value < "$1"; }
refuse() { echo "Could not prepare Boot variable: $1" >&2; exit 5; }
create= delete= new_order=
content fault; fault=$value
content order; order=$value
if [ "$1" != --verbose ]; then
  [ "$fault" != read-only ] || refuse 'Read-only file system'
  while [ $# -gt 0 ]; do
    case $1 in
      --create) create=yes ;;
      --part) part=$2; shift ;;
      --label) label=$2; shift ;;
      --loader) loader=$2; shift ;;
      --bootnum) bootnum=$2; shift ;;
      --delete-bootnum) delete=yes ;;
      --bootorder) new_order=$2; shift ;;
      --bootnext) printf '%s\\n' "$2" > next; shift ;;
    esac
    shift
  done
  if [ -n "$create" ]; then
    [ "$fault" != full ] || refuse 'No space left on device'
    at=0
    while number=$(printf %04X "$at"); [ -f "entries/$number" ]; do at=$((at + 1)); done
    if [ "$fault" != forgets-entries ]; then
      content partition
      printf '%s\\tHD(%s,GPT,%s,0x1000,0x3f800)/File(%s)\\n' "$label" "$part" "$value" "$loader" > "entries/$number"
      order=$number\${order:+,$order}
    fi
  fi
  if [ -n "$delete" ]; then
    rm -f "entries/$bootnum"
    left=
    IFS=,
    for number in $order; do [ "$number" = "$bootnum" ] || left=\${left:+$left,}$number; done
    unset IFS
    order=$left
  fi
  IFS=,
  for number in $new_order; do
    [ -f "entries/$number" ] || { echo "efibootmgr: entry $number does not exist" >&2; exit 8; }
  done
  unset IFS
  [ -z "$new_order" ] || [ "$fault" != refuses-orders ] || refuse 'Invalid argument'
  [ -z "$new_order" ] || [ "$fault" = keeps-its-order ] || order=$new_order
  printf '%s\\n' "$order" > order
fi
content next; [ -z "$value" ] || printf 'BootNext: %s\\n' "$value"
content current; [ -z "$value" ] || printf 'BootCurrent: %s\\n' "$value"
echo 'Timeout: 1 seconds'
printf 'BootOrder: %s\\n' "$order"
for file in entries/*; do
  [ ! -f "$file" ] || { content "$file"; printf 'Boot%s* %s\\n' "\${file#entries/}" "$value"; }
done
`;

/** For systemd-run: runs the command after --, as a service connected to the caller's pipes. */
export const SYSTEMD_RUN = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n';

/** Puts programs before all others in PATH until the test ends. */
export function fakePrograms(t: Test, folder: string, programs: Readonly<Record<string, string>>) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  process.env = { ...before, PATH: `${folder}:${before.PATH}` };
}

/** Firmware for efibootmgr; returns its current variables at any time. */
export function fakeFirmware(t: Test, folder: string, variables: FakeVariables) {
  const store = join(folder, 'variables');
  const of = (name: string) => join(store, name);
  fakePrograms(t, join(folder, 'bin'), { efibootmgr: EFIBOOTMGR, 'systemd-run': SYSTEMD_RUN });
  process.env.FAKE_FIRMWARE = store;
  mkdirSync(of('entries'), { recursive: true });
  const { entries, order, ...texts } = variables;
  for (const [name, text] of Object.entries({ ...texts, order: order.join(',') })) {
    if (text !== undefined) writeFileSync(of(name), `${text}\n`);
  }
  for (const [number, { label, path }] of Object.entries(entries)) {
    writeFileSync(of(join('entries', number)), `${label}\t${path}\n`);
  }
  return () => currentVariables(store);
}

function currentVariables(store: string): Omit<FakeVariables, 'fault' | 'partition'> {
  const read = (name: string) => readFileSync(join(store, name), 'utf8').trimEnd();
  const entries = readdirSync(join(store, 'entries')).map((number) => {
    const [label = '', path = ''] = read(join('entries', number)).split('\t');
    return [number, { label, path }] as const;
  });
  const set = ['current', 'next'].filter((name) => existsSync(join(store, name)));
  return {
    ...Object.fromEntries(set.map((name) => [name, read(name)])),
    order: read('order').split(',').filter(Boolean),
    entries: Object.fromEntries(entries),
  };
}

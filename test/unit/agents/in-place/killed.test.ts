/** A kill or a power cut before the bootstrap begins, before each effect of what prepares it. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { fetchBundle } from '../../../../agents/in-place/bundle.ts';
import type { InPlaceHost } from '../../../../agents/in-place/context.ts';
import { coverFolders } from '../../../../agents/in-place/cover-folders.ts';
import { openBundle } from '../../../../agents/in-place/open.ts';
import { startUnits } from '../../../../agents/in-place/start.ts';
import { marker } from '../../../../agents/steps/marker.ts';
import { MEMORY_FOLDERS, ON_DISK } from '../../../../lib/cluster/installation/in-place/places.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import {
  dying,
  killedAtAnyMoment,
  waitsForEachEffect,
} from '../../engine/steps/killed-at-any-moment.ts';
import {
  type BootingHost,
  bootingHost,
  bundleOf,
  DISK,
  FOLDER,
  liveConfig,
} from './in-place-host.ts';

const MOUNTS = '/proc/self/mountinfo';
const SERVED = '/served';
const inMemory = [fetchBundle, openBundle, startUnits];

const bundle = await bundleOf(liveConfig);

/** Its mounts are lines of a file, its server answers once. */
function host(t: Test): BootingHost {
  const booting = bootingHost(t, bundle);
  const { it } = booting;
  it.write('/proc/meminfo', 'MemAvailable:  9999999 kB\n');
  it.write('/etc/machine-id', `${'1'.repeat(32)}\n`);
  it.write('/etc/sno-agents/executable.sha256', '');
  it.write('/boot/loader/entries/a.conf');
  it.write(SERVED, bundle.bytes);
  powerOn(booting);
  it.programs.give('sync', 'exit 0');
  it.programs.give(
    'mount',
    `type=ext4; [ "$1" = -t ] && type=$2; [ "$1" = --rbind ] && type=tmpfs
for place; do :; done
case "$place" in */run/sno-agents/disk) mkdir -p "$place/etc" ;; esac
echo "9 1 0:9 / $place rw - $type x rw" >> "$ROOT${MOUNTS}"`,
  );
  it.programs.give(
    'prlimit',
    `while [ $# -gt 0 ]; do [ "$1" = --output ] && target=$2; shift; done
[ -e "$ROOT${SERVED}" ] || { printf 404; exit 22; }
mv "$ROOT${SERVED}" "$target"`,
  );
  it.programs.give(
    'systemctl',
    `case "$1" in
  start) touch "$ROOT/run/started" ;;
  show) echo ActiveState=inactive; [ -e "$ROOT/run/started" ] && echo Job=7 || echo Job=0; echo ConditionTimestampMonotonic=0 ;;
esac`,
  );
  return booting;
}

const line = (place: string, type: string) => `1 0 0:1 / ${place} rw - ${type} x rw\n`;

const powerOn = ({ it }: BootingHost): void => it.write(MOUNTS, line(it.root, 'ext4'));

/** What the step before leaves. */
function cover({ it }: BootingHost): void {
  const lines = MEMORY_FOLDERS.map(({ path, type }) => line(it.at(path), type));
  it.write(MOUNTS, [line(it.root, 'ext4'), ...lines].join(''));
  it.write(`${DISK}/etc/hostname`);
}

/** What was in memory is gone, and what was mounted. */
function powerOff(booting: BootingHost): void {
  const { it } = booting;
  const state = '/var/lib/sno-agents';
  const folders = MEMORY_FOLDERS.map(({ path }) => path).filter((path) => path !== state);
  for (const folder of ['/run', ...folders])
    rmSync(it.at(folder), { recursive: true, force: true });
  for (const name of readdirSync(it.at(state)).filter(
    // Written before the folder is covered.
    (name) => !ON_DISK.includes(join(state, name)) && name !== 'installation.json',
  ))
    rmSync(it.at(join(state, name)), { recursive: true });
  it.write('/etc/sno-agents/executable.sha256', '');
  powerOn(booting);
}

/** As the runner: what holds is not done again. */
async function go({ run, holds }: BootingHost, steps: readonly StepBody<InPlaceHost>[]) {
  for (const step of steps) if (!(await holds(step))) await run(step);
}

function result({ it }: BootingHost): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(it.root, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(it.root, name);
    const stats = lstatSync(path);
    // What a killed run has left beside a file has a name that nobody reads; mounts are compared below.
    if (stats.isDirectory() || /\.[0-9a-f]{8}\.new$|mountinfo$/.test(name)) continue;
    const contents = stats.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : readFileSync(path, 'latin1');
    const mode = stats.isSymbolicLink() ? '' : (stats.mode & 0o777).toString(8);
    found[name] = `${mode} ${contents.replace(/"at": "[^"]+"/, '')}`;
  }
  const places = readFileSync(it.at(MOUNTS), 'utf8').replaceAll(it.root, '').split('\n');
  return { ...found, mounts: places.toSorted().join('\n') };
}

t.test('killed before any of its mounts, folders are covered once', async (t) => {
  const whole = host(t);
  const effects = await waitsForEachEffect(t, () => go(whole, [marker, coverFolders]));
  const expected = result(whole);
  const mounts = effects.flatMap(({ text }, at) => (text.startsWith('mount ') ? [at] : []));
  t.ok(mounts.length > MEMORY_FOLDERS.length, `${mounts.length} mounts`);
  for (const at of mounts) {
    const booting = host(t);
    const { before } = await dying(at, false, () => go(booting, [marker, coverFolders]));
    await go(booting, [marker, coverFolders]);
    t.same(result(booting), expected, `killed before ${before}`);
  }
});

t.test('without power once they are covered, they are covered again', async (t) => {
  const booting = host(t);
  await go(booting, [marker, coverFolders]);
  const expected = result(booting);
  powerOff(booting);
  t.equal(await booting.holds(coverFolders), false);
  await go(booting, [marker, coverFolders]);
  t.same(result(booting), expected);
});

t.test('killed or without power until the bootstrap begins', async (t) => {
  await killedAtAnyMoment(t, {
    prepare() {
      const booting = host(t);
      cover(booting);
      return booting;
    },
    run: (booting) => go(booting, inMemory),
    allowed(booting, when) {
      t.notOk(booting.it.has('/etc/systemd/system'), `${when}: no unit stays`);
      if (!when.startsWith('power cut')) return;
      powerOff(booting);
      cover(booting);
    },
    result,
    least: 30,
  });
});

t.test('a bundle that was fetched to its end is not asked for again', async (t) => {
  const { it, run, holds } = host(t);
  it.write(`${FOLDER}/bundle.age.partial`, bundle.bytes);
  it.remove(SERVED);
  await run(fetchBundle);
  t.equal(await holds(fetchBundle), true);
  t.same(it.programs.calls('prlimit'), []);
});

import t from 'tap';
import { judgeMemory, memoryCheck } from '../../../../agents/steps/preflight/machine.ts';
import { compressPayloadIn } from '../../payload/compressed.ts';
import { testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { inputFor, NETWORKS } from './check-input.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;

t.test('memory', async (t) => {
  t.test('images count where the live system has its files in memory', async (t) => {
    const needed = { control: 2 * GIB, images: 3 * GIB };
    t.match(judgeMemory(8 * GIB, 4 * GIB, needed), {
      ok: true,
      fact: '8192 MiB of memory (3072 MiB for images of the payload)',
    });
    t.match(judgeMemory(5 * GIB - 1, 4 * GIB, needed), {
      ok: false,
      problem: /5119 MiB of memory, at least 5120 MiB are needed \(3072 MiB for images/,
    });
    // Half of the memory is the file system.
    t.match(judgeMemory(5 * GIB, 2.5 * GIB, needed), {
      ok: false,
      problem: /2560 MiB are free in the file system in memory, at least 3072 MiB/,
      fix: /uses half of it for files/,
    });
    t.match(judgeMemory(2 * GIB, Infinity, { control: 2 * GIB, images: 0 }), {
      ok: true,
      fact: '2048 MiB of memory',
    });
    t.match(judgeMemory(2 * GIB - MIB, Infinity, { control: 2 * GIB, images: 0 }), { ok: false });
  });

  t.test('what is compressed on the medium is in memory itself, too', async (t) => {
    const host = testHost(t);
    const medium = '/run/media/iso/sno-agents/payload';
    // So that it counts in MiB.
    writePayload(host, medium, 'k'.repeat(3 * MIB));
    const input = { ...inputFor(t, [], NETWORKS), ...host.context, hostname: 'sno' };
    host.write('/run/ostree-live', '');
    host.write('/var/lib/sno-agents/x', '');
    t.match(await memoryCheck.run(input), { fact: /\(6 MiB for images of the payload\)/ });
    compressPayloadIn(host.at(medium));
    t.match(await memoryCheck.run(input), { fact: /\(9 MiB for images of the payload\)/ });
  });

  t.test('a live system of CoreOS is known by its mark', async (t) => {
    const host = testHost(t);
    writePayload(host, '/run/media/iso/sno-agents/payload');
    const input = { ...inputFor(t, [], NETWORKS), ...host.context, hostname: 'sno' };
    t.match(await memoryCheck.run(input), { ok: true, fact: /^\d+ MiB of memory$/ });
    host.write('/run/ostree-live', '');
    host.write('/var/lib/sno-agents/x', '');
    t.match(await memoryCheck.run(input), { ok: true, fact: /for images of the payload/ });
  });
});

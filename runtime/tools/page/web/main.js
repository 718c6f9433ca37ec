// Which model and which view of it is shown.

const VIEWS = {
  graph: {label: 'Graph', show: showGraph, isThere: () => true},
  profile: {label: 'Profile', show: showProfile, isThere: (model) => Boolean(model.bench?.ops)},
  roofline: {label: 'Roofline', show: showRoofline, isThere: (model) => Boolean(model.bench?.roofline)},
  arena: {label: 'Memory', show: showArena, isThere: () => true},
};

function summaryOf({model, operators, bench}) {
  const parts = [model.file, model.reference, `level ${model.level}`, model.batch === null ? '' : `batch ${model.batch}`,
    `${operators.length} operators`, `${countText(model.macs)} MACs`];
  if (bench)
    parts.push(`${timeText(bench.latency_ms.median)} (median), least ${timeText(bench.latency_ms.min)}`,
      `${bench.threads} thread${bench.threads === 1 ? '' : 's'}, ${bench.isa}`, bench.machine.cpu, bench.date);
  return parts.filter((part) => part !== '').join(' · ');
}

const fileName = (path) => path.slice(path.lastIndexOf('/') + 1);
const titleOf = ({model}) => model.name || fileName(model.file);

function choiceText(model) {
  const {bench} = model;
  return bench ? `${fileName(model.model.file)}, threads ${bench.threads}, batch ${bench.batch}` : fileName(model.model.file);
}

function show(model, name) {
  document.getElementById('panel').hidden = true;
  document.getElementById('views').replaceChildren(...Object.entries(VIEWS).filter(([, view]) => view.isThere(model)).map(
    ([other, view]) => html('button', {role: 'tab', 'data-view': other, 'aria-selected': other === name, click: () => show(model, other)}, view.label)));
  VIEWS[name].show(model, document.getElementById('view'), showPanel);
}

function open(model) {
  document.title = titleOf(model);
  document.getElementById('title').textContent = titleOf(model);
  document.getElementById('summary').textContent = summaryOf(model);
  show(model, 'graph');
}

const models = JSON.parse(document.getElementById('data').textContent);
const picker = document.getElementById('model');
picker.append(...models.map((model, i) => html('option', {value: i}, choiceText(model))));
picker.hidden = models.length === 1;
picker.addEventListener('change', () => open(models[picker.value]));
open(models[0]);

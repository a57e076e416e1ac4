// One time zone for everybody, wherever the tests run.
module.exports = async () => {
  process.env.TZ = "Europe/Berlin";
};
